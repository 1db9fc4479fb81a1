import { type EndpointChoice, usualChoice } from '../../modes/index.ts';
import type { Balance, ServicePortPlan } from '../../plan/index.ts';
import type { Choice, Remark } from '../outcome.ts';
import { endpointRemarks } from './endpoint-remarks.ts';

/** The schedulers of the kernel that take turns. They give every endpoint its share, by weight. */
const BY_TURNS: readonly string[] = ['rr', 'wrr'];
/** The schedulers that hash an address only, so a caller always gets the same endpoint. */
const BY_ADDRESS: readonly string[] = ['sh', 'dh'];

export interface ChosenWay {
  readonly choice: Choice;
  readonly isSticky: boolean;
  /** An endpoint is as likely as it has slots. Otherwise only the kernel, or the process, knows. */
  readonly followsSlots: boolean;
  readonly remarks: readonly Remark[];
}

/** How a mode chooses among the endpoints of a service port. */
export function wayToChoose(way: EndpointChoice, plan: ServicePortPlan): ChosenWay {
  const { affinitySeconds } = plan.port;
  const choice = choiceOf(way, plan);
  const remarks: Remark[] = [...balanceRemarks(way, plan)];
  if (affinitySeconds > 0) {
    const text = `session affinity: a client keeps its endpoint for ${affinitySeconds} s after its last connection`;
    remarks.push({ code: 'affinity', text });
  }
  remarks.push(...endpointRemarks(plan));
  if (choice.kind === 'scheduler') {
    remarks.push({ code: 'scheduler', text: `the scheduler ${choice.scheduler} of the kernel decides` });
  }
  // A scheduler of the kernel makes the table of its hash itself.
  const isOwnTable = choice.kind === 'hash' && way.kind !== 'scheduler';
  const ignoresWeights = namesScheduler(way, plan) && plan.port.scheduler === 'rr' && plan.balance?.weights;
  return {
    choice,
    isSticky: affinitySeconds > 0 || isHashed(choice),
    followsSlots: !ignoresWeights && (choice.kind === 'random' || choice.kind === 'turns' || isOwnTable),
    remarks,
  };
}

/** Every connection of a client gets the same endpoint, whatever its port. */
function isHashed(choice: Choice): boolean {
  if (choice.kind === 'hash') return choice.by === 'client-address';
  return choice.kind === 'scheduler' && BY_ADDRESS.includes(choice.scheduler);
}

/** The annotation that names a scheduler wins in the mode that has schedulers. */
function namesScheduler(way: EndpointChoice, { port }: ServicePortPlan): boolean {
  return way.kind === 'scheduler' && port.scheduler !== '';
}

function choiceOf(way: EndpointChoice, plan: ServicePortPlan): Choice {
  const { port, balance } = plan;
  switch (namesScheduler(way, plan) ? undefined : balance?.algorithm) {
    case 'random':
      return { kind: 'random' };
    case 'round-robin':
      return { kind: turnsLimit(way) && balance?.weights ? 'random' : 'turns' };
    case 'least-connections':
      return { kind: 'least-connections' };
    case 'consistent-hash':
      return { kind: 'hash', by: balance?.hashBy ?? 'client-address' };
    case 'weighted':
      return { kind: way.kind === 'random' ? 'random' : 'turns' };
    case undefined:
      return choiceWithoutBalance(way, port);
  }
}

function turnsLimit(way: EndpointChoice): string | undefined {
  return way.kind === 'random' ? way.turnsLimit : undefined;
}

function choiceWithoutBalance(way: EndpointChoice, { scheduler }: ServicePortPlan['port']): Choice {
  switch (way.kind) {
    case 'random':
      return { kind: 'random' };
    case 'balancer':
      return { kind: 'turns' };
    case 'scheduler': {
      const name = scheduler === '' ? way.scheduler : scheduler;
      return BY_TURNS.includes(name) ? { kind: 'turns' } : { kind: 'scheduler', scheduler: name };
    }
  }
}

/** Who chose the algorithm, and what the mode cannot do. */
export function balanceRemarks(way: EndpointChoice, plan: ServicePortPlan): readonly Remark[] {
  const { balance, port } = plan;
  if (!balance || namesScheduler(way, plan)) return [];
  const { algorithm, unavailable } = balance;
  if (unavailable) {
    const text = `the Service asks for ${unavailable}, which this mode does not have: it chooses ${usualChoice(way)}`;
    return [{ code: 'balance-unavailable', text }];
  }
  if (!algorithm) return [];
  const asking = port.options.algorithm ? 'an annotation of the Service' : '--default-balance';
  return [{ code: 'balance', text: `${asking} asks for ${algorithm}${detailOf(way, balance)}` }];
}

function detailOf(way: EndpointChoice, { algorithm, hashBy, weights }: Balance): string {
  if (algorithm === 'consistent-hash') {
    const hashed = { 'client-address': 'address', 'client-address-and-port': 'address and port' }[hashBy];
    return `: a hash of the client's ${hashed} chooses`;
  }
  const limit = algorithm === 'round-robin' ? turnsLimit(way) : undefined;
  if (limit === undefined) return '';
  return weights ? ': the choice is random while shares differ' : `: ${limit}`;
}
