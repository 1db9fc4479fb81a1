import type { Algorithm } from '../../../model/index.ts';
import type { ServicePortPlan } from '../../../plan/index.ts';

export const DEFAULT_SCHEDULER = 'rr';

/** The kernel's scheduler for each algorithm. Undefined: the kernel has none. */
const SCHEDULERS: Readonly<Record<Algorithm, string | undefined>> = {
  random: undefined,
  'round-robin': 'rr',
  'least-connections': 'lc',
  'consistent-hash': 'mh',
  weighted: 'wrr',
};

/** The schedulers that ignore weights, and those that do the same by weight. */
const BY_WEIGHT: Readonly<Record<string, string>> = { rr: 'wrr', lc: 'wlc' };

export interface SchedulerContext {
  /** The scheduler of Services that do not ask for another one. */
  readonly scheduler: string;
  /** The schedulers that the kernel lacks. */
  readonly missingSchedulers: ReadonlySet<string>;
}

/** `isWeighted`: the real servers have different weights. */
export function schedulerOf(
  { scheduler, missingSchedulers }: SchedulerContext,
  plan: ServicePortPlan,
  isWeighted: boolean,
): string {
  const wanted = wantedScheduler(plan, scheduler, isWeighted);
  return missingSchedulers.has(wanted) ? scheduler : wanted;
}

/** The annotation that names a scheduler comes before the one that names an algorithm, and stays as it is. */
function wantedScheduler({ port, balance }: ServicePortPlan, configured: string, isWeighted: boolean): string {
  if (port.scheduler !== '') return port.scheduler;
  const scheduler = (balance?.algorithm && SCHEDULERS[balance.algorithm]) ?? configured;
  return (isWeighted && BY_WEIGHT[scheduler]) || scheduler;
}

/** Whether maglev hashes the port of the client too. Otherwise all connections of a client go to one endpoint. */
export function hashesPorts({ port, balance }: ServicePortPlan, scheduler: string): boolean {
  if (scheduler !== 'mh') return false;
  const isBalanced = port.scheduler === '' && balance?.algorithm === 'consistent-hash';
  return !isBalanced || balance.hashBy === 'client-address-and-port';
}
