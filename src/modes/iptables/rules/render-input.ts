import type { ServicePortPlan } from '../../../plan/index.ts';

/** A plan, and how its rules are written. */
export interface RenderInput {
  readonly plan: ServicePortPlan;
  /** In large clusters the rules of endpoints have no comments, because comments are most of the text. */
  readonly withComments: boolean;
}

/** One service port: what is committed, and what should be. */
export interface RenderChange {
  readonly id: string;
  readonly from: RenderInput | undefined;
  readonly to: RenderInput | undefined;
}
