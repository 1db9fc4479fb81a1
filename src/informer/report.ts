/** Something that could not be read or reached. What was read before stays in use. */
export interface InformerProblem {
  /** An API path: of a resource, or of one object. */
  readonly where: string;
  /** `Service shop/web` */
  readonly object?: string | undefined;
  /** `spec.ports[0].port` */
  readonly field?: string | undefined;
  readonly message: string;
}

/** Who hears how an informer fares. A problem is told once, until it changes or is gone. */
export interface InformerReport {
  problem(problem: InformerProblem): void;
  recovered(where: string): void;
  /** Anything came: the watch of this path is alive. */
  heard?(path: string): void;
}
