import { type PlanDiff, planId, type ServicePortPlan } from '../plan/index.ts';

/** Brings what is wanted up to date, and notes in `dirty` what has to be looked at. */
export function notePlans(
  { added, updated, removed }: PlanDiff,
  wanted: Map<string, ServicePortPlan>,
  dirty: Set<string>,
): void {
  for (const plan of removed) {
    wanted.delete(planId(plan));
    dirty.add(planId(plan));
  }
  for (const plan of [...added, ...updated.map(({ to }) => to)]) {
    wanted.set(planId(plan), plan);
    dirty.add(planId(plan));
  }
}
