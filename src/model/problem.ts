/** Something in an object that cannot be used. The rest of the object, and all other objects, are. */
export interface ModelProblem {
  /** `Service default/web` */
  readonly object: string;
  readonly field: string;
  readonly message: string;
}

export type ReportProblem = (problem: ModelProblem) => void;
