import { type EndpointSlice, type Node, objectKey, type Service, type ServiceCIDR } from '../../src/api/index.ts';
import { type Explanation, explain, type Facts, parseQuestion } from '../../src/explain/index.ts';
import type { Problem } from '../../src/lib/problem.ts';
import { FAMILIES, type Ip } from '../../src/net/index.ts';
import { conflictProblems, DEFAULT_PLAN_SETTINGS } from '../../src/plan/index.ts';
import { MASQUERADE_BIT, modeSettings, ProxyState } from '../../src/proxy/index.ts';
import { isSelected } from '../../src/source/index.ts';
import { factsFrom } from './facts.ts';
import { node } from './objects.ts';

type Given = Service | EndpointSlice | Node | ServiceCIDR;

interface FactsOverrides extends Partial<Omit<Facts, 'state' | 'settings' | 'objects'>> {
  readonly nodePortAddresses?: readonly string[];
  readonly allowExternalIPs?: boolean;
}

/** The node of these tests: node-a in zone-a, with pods in 10.244.0.0/16. */
const NODE_A = node('node-a', {
  internalIPs: ['192.168.0.2', 'fd00:192:168::2'],
  labels: { 'topology.kubernetes.io/zone': 'zone-a' },
});

/** What the proxy of node-a knows, if the API server has these objects. By default no kernel is read. */
export function factsOf(given: readonly Given[], overrides: FactsOverrides = {}): Facts {
  const { nodePortAddresses = [], allowExternalIPs = true, ...rest } = overrides;
  const problems: Problem[] = [];
  const clusterCIDRs = ['10.244.0.0/16', 'fd00:10:244::/48'];
  const settings = { ...DEFAULT_PLAN_SETTINGS, clusterCIDRs, allowExternalIPs };
  const state = new ProxyState({ nodeName: 'node-a', settings, startedAt: 0, report: each => problems.push(each) });
  const services = new Map<string, Service>();
  const slices = new Map<string, EndpointSlice>();
  const nodes = given.some(({ kind }) => kind === 'Node') ? [] : [NODE_A];
  for (const to of [...nodes, ...given]) {
    if (to.kind === 'Service') services.set(objectKey(to.metadata), to);
    if (to.kind === 'EndpointSlice') slices.set(objectKey(to.metadata), to);
    if (isSelected(to, 'node-a')) feed(state, to);
  }
  state.take();
  const interfaceIPs = (rest.interfaceIPs ?? ['192.168.0.2', 'fd00:192:168::2', '172.17.0.1']) as readonly Ip[];
  const conflicts = FAMILIES.flatMap(family => conflictProblems(state.family(family).planner.plans()));
  return factsFrom(state, {
    services,
    slices,
    settings: family =>
      modeSettings(state, family, {
        nodePortAddresses,
        masqueradeBit: MASQUERADE_BIT,
        interfaceIPs: () => interfaceIPs,
      }),
    interfaceIPs,
    problems: [...problems, ...conflicts],
    ...rest,
  });
}

function feed(state: ProxyState, to: Given): void {
  if (to.kind === 'Service') state.serviceChanged({ type: 'added', to });
  else if (to.kind === 'EndpointSlice') state.endpointSliceChanged({ type: 'added', to });
  else if (to.kind === 'Node') state.nodeChanged({ type: 'added', to });
  else state.serviceCidrChanged({ type: 'added', to });
}

/** Asks a question with words: `web from 10.244.1.7`. */
export async function ask(question: string, facts: Facts, probe = false): Promise<Explanation> {
  const [to = '', from] = question.split(' from ');
  return await explain(parseQuestion({ to, from, probe }), facts);
}

/** The marks and texts of all steps of a topic, with their details below. */
export function stepText({ steps }: Explanation, topic: string): string {
  const found = steps.filter(step => step.topic === topic);
  return found.map(({ verdict, text, details }) => [`${verdict}: ${text}`, ...details].join('\n')).join('\n');
}

/** The verdict, the summary and the next step, as the last lines of an answer. */
export function verdictText({ verdict, summary, next }: Explanation): string {
  const lines = [
    `${verdict}: ${summary}`,
    ...(next ? [`next: ${next.text}`] : []),
    ...(next?.command ? [`$ ${next.command}`] : []),
  ];
  return lines.join('\n');
}
