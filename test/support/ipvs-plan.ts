import type { EndpointSlice, Service } from '../../src/api/index.ts';
import { Model, parseNodePortAddresses } from '../../src/model/index.ts';
import { firstStartText } from '../../src/modes/ipvs/preview.ts';
import type { ModeSettings } from '../../src/modes/mode.ts';
import type { Family, Ip } from '../../src/net/index.ts';
import { type LiveEndpoints, Planner } from '../../src/plan/index.ts';
import { modeSettingsFor } from './mode-harness.ts';

export interface PlannedOptions {
  readonly family?: Family;
  readonly nodeIPs?: readonly string[];
  readonly nodePortAddresses?: readonly string[];
  readonly settings?: Partial<ModeSettings>;
  readonly scheduler?: string;
  readonly live?: LiveEndpoints;
}

/** Everything that ipvs mode would write for some objects. */
export interface Planned {
  /** Lines of `ipvsadm -S -n`. */
  readonly servers: readonly string[];
  readonly addresses: readonly string[];
  /** The sets that have elements. */
  readonly sets: Readonly<Record<string, readonly string[]>>;
  readonly rules: readonly string[];
  readonly text: string;
}

const NODE_IPS = { IPv4: '192.168.0.2', IPv6: 'fd00:192:168::2' } as const;

/** What ipvs mode would write on the node `node-a`. */
export function planned(objects: readonly (Service | EndpointSlice)[], options: PlannedOptions = {}): Planned {
  const { family = 'IPv4', scheduler = 'rr' } = options;
  const nodeIPs = (options.nodeIPs ?? [NODE_IPS[family]]) as readonly Ip[];
  const addresses = parseNodePortAddresses(family, options.nodePortAddresses ?? []);
  const settings = modeSettingsFor(family, { nodePortAddresses: addresses, ...options.settings });
  const model = new Model({ family, nodeName: 'node-a', startedAt: 0, report: () => {} });
  for (const object of objects) {
    if (object.kind === 'Service') model.setService(object);
    else model.setEndpointSlice(object);
  }
  const planOptions = {
    node: { name: 'node-a', zone: 'zone-a' },
    nodeIP: NODE_IPS[family] as Ip,
    localDetector: settings.localDetector,
    masqueradeAll: settings.masqueradeAll,
    allowExternalIPs: true,
  };
  const planner = new Planner(model, planOptions, () => {}, options.live);
  const plans = planner.update(model.take()).added;
  return parse(firstStartText({ family, scheduler, settings, nodeIPs, plans }));
}

function parse(text: string): Planned {
  const [sets = '', addresses = '', servers = '', rules = ''] = text
    .split(/^# .*\n/m)
    .slice(1)
    .map(section => section.trim());
  const elements: Record<string, string[]> = {};
  for (const line of sets.split('\n').filter(line => line.startsWith('add '))) {
    const [, set = '', element = ''] = line.split(' ');
    elements[set] = [...(elements[set] ?? []), element];
  }
  const lines = (section: string) => section.split('\n').filter(Boolean);
  return { servers: lines(servers), addresses: lines(addresses), sets: elements, rules: lines(rules), text };
}

/** The rules of one chain, without the name of the chain. */
export function chain(
  { rules }: Pick<Planned, 'rules'>,
  name: string,
  table: 'nat' | 'filter' = 'nat',
): readonly string[] {
  const first = rules.indexOf(`*${table}`);
  const last = rules.indexOf('COMMIT', first);
  const prefix = `-A ${name} `;
  return rules
    .slice(first, last)
    .filter(rule => rule.startsWith(prefix))
    .map(rule => rule.slice(prefix.length));
}
