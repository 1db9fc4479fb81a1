/** An endpoint of a service port, and what connections to it have shown. */
export interface Backend {
  readonly text: string;
  /** As a sockaddr. */
  readonly address: Buffer;
  /** Open connections from this node, and attempts that have no answer yet. */
  active: number;
  /** Connections so far, and the bytes that they carried in both directions. */
  connections: number;
  bytes: number;
  /** Until then the balancer prefers others, because the endpoint took no connection. 0 if it does. */
  ejectedUntil: number;
  /** How often in a row it did not answer in time. */
  timeouts: number;
  /** It left the plan. Its connections go on. */
  isGone: boolean;
}
