/** An invariant that did not hold, with the facts. */
export interface Violation {
  readonly invariant: string;
  readonly facts: string;
}
