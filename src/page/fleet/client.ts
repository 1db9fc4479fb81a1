/** The API server, as the fleet asks it. */
export interface FleetClient {
  /**
   * Resolves with the answer, whatever its status is. Rejects if there is no answer, or if it is longer than `maxBytes`.
   */
  get(request: FleetRequest): Promise<FleetAnswer>;
}

export interface FleetRequest {
  /** With the query: `/api/v1/nodes?limit=500`. */
  readonly path: string;
  /** The Accept header. */
  readonly accept: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface FleetAnswer {
  readonly status: number;
  readonly text: string;
}
