import type { EndpointChoice } from '../../modes/index.ts';
import type { ServicePortPlan } from '../../plan/index.ts';
import type { Choice, Remark } from '../outcome.ts';
import { endingRemarks } from './ending.ts';

/** The schedulers of the kernel that give every endpoint the same share, because all have the same weight. */
const BY_TURNS: readonly string[] = ['rr', 'wrr'];
/** The schedulers that hash an address only, so a caller always gets the same endpoint. */
const BY_ADDRESS: readonly string[] = ['sh', 'dh'];

export interface ChosenWay {
  readonly choice: Choice;
  readonly isSticky: boolean;
  /** Every endpoint is equally likely. */
  readonly hasEqualShares: boolean;
  readonly remarks: readonly Remark[];
}

/** How a mode chooses among the endpoints of a service port. */
export function wayToChoose(way: EndpointChoice, { port }: ServicePortPlan): ChosenWay {
  const choice = choiceOf(way, port);
  const isHashed = choice.kind === 'scheduler' && BY_ADDRESS.includes(choice.scheduler);
  const remarks: Remark[] = [];
  if (port.affinitySeconds > 0) {
    const text = `session affinity: a client keeps its endpoint for ${port.affinitySeconds} s after its last connection`;
    remarks.push({ code: 'affinity', text });
  }
  remarks.push(...endingRemarks(port));
  if (choice.kind === 'scheduler') {
    remarks.push({ code: 'scheduler', text: `the scheduler ${choice.scheduler} of the kernel decides` });
  }
  const hasEqualShares = choice.kind === 'random' || choice.kind === 'turns';
  return { choice, isSticky: port.affinitySeconds > 0 || isHashed, hasEqualShares, remarks };
}

function choiceOf(way: EndpointChoice, { scheduler, traffic }: ServicePortPlan['port']): Choice {
  switch (way.kind) {
    case 'random':
      return { kind: 'random' };
    case 'balancer':
      return { kind: traffic.algorithm === 'least-connections' ? 'least-connections' : 'turns' };
    case 'scheduler': {
      const name = scheduler === '' ? way.scheduler : scheduler;
      return BY_TURNS.includes(name) ? { kind: 'turns' } : { kind: 'scheduler', scheduler: name };
    }
  }
}
