import type { EndpointSlice, Service } from '../../src/api/index.ts';
import { Model, parseNodePortAddresses } from '../../src/model/index.ts';
import type { RuleOptions } from '../../src/modes/iptables/rules/rule-options.ts';
import { type Family, type Ip, parseCidr } from '../../src/net/index.ts';
import { type LiveEndpoints, Planner, type PlanOptions, type ServicePortPlan } from '../../src/plan/index.ts';

interface Objects {
  readonly services: readonly Service[];
  readonly slices?: readonly EndpointSlice[];
}

export interface PlansOptions {
  readonly family?: Family;
  /** The CIDR of the pods. Empty means that the proxy cannot detect pods. */
  readonly podRange?: string;
  readonly nodeIP?: string;
  readonly overrides?: Partial<PlanOptions>;
  readonly live?: LiveEndpoints;
}

export function detectorOf(range: string) {
  const cidr = parseCidr(range);
  return cidr && ({ kind: 'source-cidr', cidr } as const);
}

/** The plans for these objects. */
export function plansOf({ services, slices = [] }: Objects, options: PlansOptions = {}): readonly ServicePortPlan[] {
  const { family = 'IPv4', podRange = '10.0.0.0/8', nodeIP = '192.168.0.2', overrides, live } = options;
  const model = new Model({ family, nodeName: 'node-a', startedAt: 0, report: () => {} });
  for (const service of services) model.setService(service);
  for (const slice of slices) model.setEndpointSlice(slice);
  const planOptions = {
    node: { name: 'node-a', zone: '' },
    nodeIP: nodeIP as Ip,
    localDetector: detectorOf(podRange),
    masqueradeAll: false,
    allowExternalIPs: true,
    ...overrides,
  };
  const planner = new Planner(model, planOptions, () => {}, live);
  planner.update(model.take());
  return [...planner.plans()];
}

type Overrides = Partial<Omit<RuleOptions, 'machine'>> & { readonly machine?: Partial<RuleOptions['machine']> };

/** The rule options of a machine that supports everything that the mode can use, except `--random-fully`. */
export function rulesFor(family: Family = 'IPv4', { machine, ...overrides }: Overrides = {}): RuleOptions {
  return {
    family,
    mark: '0x4000',
    localDetector: detectorOf(family === 'IPv4' ? '10.0.0.0/8' : 'fd00:10::/64'),
    nodePortAddresses: parseNodePortAddresses(family, []),
    nodePortIPs: [],
    ...overrides,
    machine: {
      localhostNodePorts: family === 'IPv4',
      tcpLiberal: false,
      randomFully: false,
      keepsTurns: true,
      keepsNodeSourcePorts: false,
      counters: new Set(['ct_state_invalid_dropped_pkts', 'localhost_nps_accepted_pkts'] as const),
      ...machine,
    },
  };
}
