import { compareTexts } from '../lib/compare-texts.ts';
import { NONE } from '../lib/none.ts';
import type { Endpoint } from '../model/index.ts';
import { endpointWeight, type Frontend, reachableEndpoints, type ServicePortPlan } from '../plan/index.ts';

/** The plan of a service port before and after. One of them may be missing. */
export interface PlanChange {
  readonly from: ServicePortPlan | undefined;
  readonly to: ServicePortPlan | undefined;
}

/** Words about longer lists end with an ellipsis. */
const MAX_LISTED = 3;

/** What changed in the plans of a Service, in words. */
export function planWords(changes: readonly PlanChange[]): string {
  return changes.map(portWords).join('; ');
}

function portWords({ from, to }: PlanChange): string {
  if (to === undefined) return from === undefined ? '' : `${portName(from)} removed`;
  if (from === undefined) {
    const addresses = to.frontends.map(frontendText).join(', ');
    return `${portName(to)} added: ${addresses || 'no address'}, ${count(reachableEndpoints(to.endpoints).length, 'endpoint')}`;
  }
  const words = [
    ...settingWords(from, to),
    ...frontendWords(from, to),
    ...conflictWords(from, to),
    ...endpointWords(from, to),
    ...weightWords(from, to),
  ];
  const text = words.length > 0 ? words.join('; ') : 'how it treats callers changed';
  return to.port.name === '' ? text : `${to.port.name}: ${text}`;
}

function portName({ port }: ServicePortPlan): string {
  return port.name === '' ? `port ${port.port}/${port.protocol}` : `port ${port.name}`;
}

const KIND_WORDS = {
  ClusterIP: 'cluster IP',
  ExternalIP: 'external IP',
  LoadBalancerIP: 'load-balancer IP',
  NodePort: 'node port',
} as const;

function frontendText({ kind, ip, port }: Frontend): string {
  return `${KIND_WORDS[kind]} ${ip ?? port}`;
}

function settingWords({ port: a }: ServicePortPlan, { port: b }: ServicePortPlan): readonly string[] {
  // The usual case: only endpoints changed.
  if (a === b) return NONE;
  const policy = (isLocal: boolean) => (isLocal ? 'Local' : 'Cluster');
  const seconds = (value: number) => (value === 0 ? 'off' : `${value} s`);
  const ranges = (port: typeof a) => port.loadBalancerSourceRanges.map(({ address, prefix }) => `${address}/${prefix}`);
  const failures = ({ options: { ejectAfter } }: typeof a) => (ejectAfter === 0 ? 'off' : `${ejectAfter}`);
  const settings: readonly (readonly [string, string, string])[] = [
    ['port', `${a.port}`, `${b.port}`],
    ['internal traffic policy', policy(a.internalPolicyLocal), policy(b.internalPolicyLocal)],
    ['external traffic policy', policy(a.externalPolicyLocal), policy(b.externalPolicyLocal)],
    ['session affinity', seconds(a.affinitySeconds), seconds(b.affinitySeconds)],
    ['source ranges', ranges(a).join(', ') || 'none', ranges(b).join(', ') || 'none'],
    ['health check node port', `${a.healthCheckNodePort || 'none'}`, `${b.healthCheckNodePort || 'none'}`],
    ['scheduler', a.scheduler || 'default', b.scheduler || 'default'],
    ['balance', a.options.algorithm ?? 'default', b.options.algorithm ?? 'default'],
    ['hash by', a.options.hashBy, b.options.hashBy],
    ['slow start', seconds(a.options.slowStartSeconds), seconds(b.options.slowStartSeconds)],
    ['failures until an endpoint is left out', failures(a), failures(b)],
  ];
  return settings.filter(([, from, to]) => from !== to).map(([name, from, to]) => `${name} ${from} → ${to}`);
}

function frontendWords(from: ServicePortPlan, to: ServicePortPlan): readonly string[] {
  const isUsual = from.port === to.port && from.conflicts.length + to.conflicts.length === 0;
  if (isUsual && from.frontends.length === to.frontends.length) return NONE;
  const texts = ({ frontends }: ServicePortPlan) => frontends.map(frontendText);
  const [before, after] = [texts(from), texts(to)];
  const lost = new Set(to.conflicts.map(({ frontend }) => frontendText(frontend)));
  return [
    ...after.filter(text => !before.includes(text)).map(text => `${text} added`),
    ...before.filter(text => !after.includes(text) && !lost.has(text)).map(text => `${text} gone`),
  ];
}

function conflictWords(from: ServicePortPlan, to: ServicePortPlan): readonly string[] {
  if (to.conflicts.length === 0) return NONE;
  const texts = ({ conflicts }: ServicePortPlan) =>
    conflicts.map(({ frontend, owner }) => `${frontendText(frontend)} belongs to Service ${owner}`);
  const before = texts(from);
  return texts(to).filter(text => !before.includes(text));
}

function endpointWords(from: ServicePortPlan, to: ServicePortPlan): readonly string[] {
  const before = reachableEndpoints(from.endpoints);
  const after = reachableEndpoints(to.endpoints);
  const { added, removed } = diffSorted(before, after);
  const words: string[] = [];
  if (added.length > 0) words.push(`${count(added.length, 'endpoint')} added: ${listed(added)}`);
  if (removed.length > 0) {
    const what = added.length > 0 ? `${removed.length}` : count(removed.length, 'endpoint');
    words.push(`${what} removed: ${listed(removed)}`);
  }
  if (words.length > 0) words.push(after.length === 0 ? 'no endpoint is left' : `${after.length} in use`);
  else if (from.endpoints.local.length !== to.endpoints.local.length)
    words.push(`${count(to.endpoints.local.length, 'local endpoint')} in use`);
  return words;
}

/** Endpoints that the Service gave another weight. What the proxy learned about them, such as slow start, is no change. */
function weightWords(from: ServicePortPlan, to: ServicePortPlan): readonly string[] {
  if (from.balance?.weights === to.balance?.weights) return NONE;
  const weight = (plan: ServicePortPlan, endpoint: Endpoint) => endpointWeight(plan, endpoint)?.weight ?? 1;
  const before = new Map(reachableEndpoints(from.endpoints).map(endpoint => [endpoint.text, weight(from, endpoint)]));
  const texts: string[] = [];
  for (const endpoint of reachableEndpoints(to.endpoints)) {
    const [old, now] = [before.get(endpoint.text), weight(to, endpoint)];
    if (old !== undefined && old !== now) texts.push(`${endpoint.text} ${old} → ${now}`);
  }
  return texts.length === 0 ? NONE : [`${count(texts.length, 'weight')} changed: ${listed(texts)}`];
}

/** Both lists are sorted by text. */
function diffSorted(before: readonly Endpoint[], after: readonly Endpoint[]) {
  const added: string[] = [];
  const removed: string[] = [];
  let [b, a] = [0, 0];
  while (b < before.length || a < after.length) {
    const [old, now] = [before[b]?.text, after[a]?.text];
    const order = old === undefined ? 1 : now === undefined ? -1 : compareTexts(old, now);
    if (order < 0 && old !== undefined) removed.push(old);
    if (order > 0 && now !== undefined) added.push(now);
    if (order <= 0) b++;
    if (order >= 0) a++;
  }
  return { added, removed };
}

function listed(texts: readonly string[]): string {
  return texts.length <= MAX_LISTED ? texts.join(', ') : `${texts.slice(0, MAX_LISTED).join(', ')}, …`;
}

/** `1 endpoint`, `2 endpoints` */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
