/** Why a resource is not followed, or not yet. What was read before stays in use. */
export interface FollowingProblem {
  /** The API path of the resource. */
  readonly where: string;
  readonly message: string;
}

/** An object that cannot be used. Its last good version stays. */
export interface ObjectProblem {
  /** The API path of the object, or of the resource if the object has no name. */
  readonly where: string;
  /** `Service shop/web`, or only its kind. */
  readonly object?: string | undefined;
  /** `spec.ports[0].port` */
  readonly field?: string | undefined;
  readonly message: string;
}

/** Who hears how an informer fares. Everything is told once, until it changes or is over. */
export interface InformerReport {
  /** A resource cannot be followed, and is tried again. */
  problem(problem: FollowingProblem): void;
  /** Nothing failed, but what a resource needs does not come. */
  waiting(problem: FollowingProblem): void;
  /** The resource is followed. */
  recovered(where: string): void;
  unusable(problem: ObjectProblem): void;
  /** The object is well, or gone. */
  usable(where: string): void;
  /** Anything came: the watch of this path is alive. */
  heard?(path: string): void;
}
