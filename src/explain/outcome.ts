/** Which address an endpoint sees as its caller: the caller's own address, or one of the node. */
export type SeenAs = 'itself' | 'node';

/** An endpoint that may answer. */
export interface AnsweringEndpoint {
  /** `ip:port` */
  readonly text: string;
  readonly seenAs: SeenAs;
  /** How likely a new connection gets this endpoint, from 0 to 1. */
  readonly odds: number;
}

/** What a new connection gets, by the plan and by the way in which the mode works. */
export type Outcome =
  | {
      readonly kind: 'answered';
      readonly endpoints: readonly AnsweringEndpoint[];
      /** The same endpoint answers every time. Any of them may be that endpoint. */
      readonly isSticky: boolean;
    }
  /** The caller gets an error at once. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The caller waits until it gives up. */
  | { readonly kind: 'silent'; readonly reason: string };
