import { type Change, latestOf } from '../lib/change.ts';
import { type ModelDiff, type ServiceState, sameEndpoints } from '../model/index.ts';
import { type PlanDiff, type ServicePortPlan, sameBalance } from '../plan/index.ts';
import type { PlanChange } from './plan-words.ts';

/** What a sync takes of one Service. */
export interface ServiceChange {
  /** `ns/name` */
  readonly service: string;
  /** Empty if nothing is to be written. */
  readonly plans: readonly PlanChange[];
  /** Why nothing is to be written. */
  readonly words: string;
}

interface MutableServiceChange extends ServiceChange {
  readonly plans: PlanChange[];
}

export interface CollectedChanges {
  readonly changes: readonly ServiceChange[];
  /** How many service ports and Services are left out, because there are too many. */
  readonly left: number;
}

/** Groups the changes of a sync by Service. A sync may have all service ports, so only the first Services are kept. */
export function collectChanges({ services }: ModelDiff, plans: PlanDiff, max: number): CollectedChanges {
  const changes = new Map<string, MutableServiceChange>();
  // The plans of a Service stand beside each other in each list.
  const scanned = 4 * max;
  let left = [plans.added, plans.updated, plans.removed].reduce(
    (sum, { length }) => sum + Math.max(0, length - scanned),
    0,
  );
  const add = (service: string, from: ServicePortPlan | undefined, to: ServicePortPlan | undefined) => {
    const known = changes.get(service);
    if (known) known.plans.push({ from, to });
    else if (changes.size < max) changes.set(service, { service, plans: [{ from, to }], words: '' });
    else left++;
  };
  for (const plan of plans.added.slice(0, scanned)) add(plan.service, undefined, plan);
  for (const { from, to } of plans.updated.slice(0, scanned)) if (!isShareChange(from, to)) add(to.service, from, to);
  for (const plan of plans.removed.slice(0, scanned)) add(plan.service, plan, undefined);
  if (left > 0) return { changes: [...changes.values()], left };
  for (const change of services) {
    const { key } = latestOf(change);
    if (changes.has(key)) continue;
    if (changes.size < max) changes.set(key, { service: key, plans: [], words: unwrittenWords(change) });
    else left++;
  }
  return { changes: [...changes.values()], left };
}

/**
 * Only the shares of endpoints changed, because time has passed or connections came and went. That may happen every
 * second, and would push everything else out of the history.
 */
function isShareChange(from: ServicePortPlan, to: ServicePortPlan): boolean {
  return (
    from.port === to.port &&
    from.balance !== to.balance &&
    !sameBalance(from.balance, to.balance) &&
    sameEndpoints(from.endpoints.cluster, to.endpoints.cluster) &&
    sameEndpoints(from.endpoints.local, to.endpoints.local)
  );
}

/** The model of the Service changed, but not what this node does with it. */
function unwrittenWords(change: Change<ServiceState>): string {
  const { ports } = latestOf(change);
  if (ports.length === 0) return 'nothing to write: no Service has these endpoints';
  if (change.type !== 'updated' || isSameState(change.from, change.to)) return 'nothing to write: nothing changed';
  return 'nothing to write: the endpoints that changed are not used on this node';
}

function isSameState(from: ServiceState, to: ServiceState): boolean {
  return (
    from.ports === to.ports &&
    from.endpoints.length === to.endpoints.length &&
    from.endpoints.every((port, i) => {
      const other = to.endpoints[i];
      return other !== undefined && sameEndpoints(port.endpoints, other.endpoints);
    })
  );
}
