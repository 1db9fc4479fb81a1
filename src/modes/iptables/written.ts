import type { ServicePortPlan } from '../../plan/index.ts';

/** A plan as it is written, or to be written. */
export interface Written {
  readonly plan: ServicePortPlan;
  readonly withComments: boolean;
}

/** What is to change for one service port. */
export interface Change {
  readonly id: string;
  readonly from: Written | undefined;
  readonly to: Written | undefined;
}
