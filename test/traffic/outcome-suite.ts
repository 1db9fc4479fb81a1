import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Service } from '../../src/api/index.ts';
import { podGateway } from '../../src/demo/playground/addresses.ts';
import {
  Cluster,
  type ProbeOptions,
  type ProbeProtocol,
  type ProbeResult,
  probe,
} from '../../src/demo/playground/index.ts';
import { KeyedTurns } from '../../src/lib/turns.ts';
import { FAMILIES, type Family, familyOf, type Ip, isLoopback } from '../../src/net/index.ts';
import { ProxyState } from '../../src/proxy/index.ts';
import { service, slice } from '../support/objects.ts';
import { describeAnswers } from './answers.ts';
import { CaseObjects, handOver, NODE_NAME } from './case-objects.ts';
import { caseOutcome } from './case-outcome.ts';
import { address, Endpoints } from './endpoints.ts';
import { clusterSources, type Question, socketsOfNode } from './matrix.ts';
import type { Mode } from './modes.ts';
import type { Configuration } from './recorded-case.ts';
import { type RecordedSource, recordedSources, resultIn } from './recorded-network.ts';
import { type CaseSettings, caseSettings } from './settings.ts';
import { caseMode, startProxy } from './start-proxy.ts';

const near = { ip: '10.244.1.2', nodeName: 'node-a' };
const far = { ip: '10.244.2.3', nodeName: 'other-node' };
const near6 = { ip: 'fd00:10:244:1::2', nodeName: 'node-a' };
const nodePort = (number: number) => ({ type: 'NodePort', ports: [{ nodePort: number }] });
const local = { externalTrafficPolicy: 'Local' };

const OBJECTS = [
  service('web', {
    ...nodePort(30010),
    clusterIP: '10.96.0.10',
    externalIPs: ['198.51.100.10'],
    type: 'LoadBalancer',
    ingress: [{ ip: '203.0.113.10' }],
  }),
  slice('web-1', [near, far]),
  service('far', { ...nodePort(30011), ...local, clusterIP: '10.96.0.11' }),
  slice('far-1', [far]),
  service('empty', { ...nodePort(30012), clusterIP: '10.96.0.12' }),
  service('empty-dns', {
    type: 'NodePort',
    clusterIP: '10.96.0.13',
    ports: [{ port: 53, nodePort: 30013, protocol: 'UDP' }],
  }),
  // Both want the same external IP. The first one by name owns it, and has no endpoints.
  service('shared-a', { clusterIP: '10.96.0.14', externalIPs: ['198.51.100.20'] }),
  service('shared-b', { clusterIP: '10.96.0.15', externalIPs: ['198.51.100.20'] }),
  slice('shared-b-1', [near]),
  // The external IP is an address of the node.
  service('own', { clusterIP: '10.96.0.16', externalIPs: ['192.168.0.2'], ports: [{ port: 8081 }] }),
  service('web6', { ...nodePort(30016), clusterIP: 'fd00:10:96::10' }),
  slice('web6-1', [near6]),
];

/** Destinations that the recorded cases do not ask, and some that they do. `UDP` follows where it is not TCP. */
const DESTINATIONS: readonly string[] = [
  '10.96.0.10 80',
  '10.96.0.10 81',
  '10.96.0.10 80 UDP',
  '198.51.100.10 81',
  '203.0.113.10 81',
  '10.96.0.99 80',
  '198.51.100.20 80',
  '192.168.0.2 8081',
  '192.168.0.2 8082',
  '192.168.0.2 30013 UDP',
  '10.244.1.1 30013 UDP',
  ...['192.168.0.2', '10.244.1.1', '127.0.0.1', '127.0.0.2'].flatMap(ip =>
    [30010, 30011, 30012, 30099].map(port => `${ip} ${port}`),
  ),
  'fd00:10:96::10 80',
  'fd00:10:96::10 81',
  'fd00:10:96::99 80',
  'fd00:192:168::2 30016',
  'fd00:10:244:1::1 30016',
  '::1 30016',
];

const CONFIGURATIONS: Readonly<Record<string, Configuration>> = {
  'the usual configuration': {},
  'node ports at one network': { nodePortAddresses: ['192.168.0.0/24', 'fd00:192:168::/64'] },
  'node ports at loopback': { nodePortAddresses: ['localhost'] },
  'pods that are not recognised': { clusterCIDR: '' },
  'all masqueraded': { iptables: { masqueradeAll: true }, nftables: { masqueradeAll: true } },
};

/** Most of a test is waiting for answers that do not come. */
const CONCURRENT_CONFIGURATIONS = 5;

/** Asks destinations that no recorded case has, with real packets, and compares the answers with the outcomes. */
export function outcomeSuite(mode: Mode, families: readonly Family[] = FAMILIES): void {
  describe(`outcomes and packets in ${mode} mode`, { concurrency: CONCURRENT_CONFIGURATIONS }, () => {
    for (const [name, configuration] of Object.entries(CONFIGURATIONS)) {
      test(`OUTCOME-4 OUTCOME-5 packets get what the outcome says: ${name}`, () =>
        compareOutcomes(caseSettings(configuration, mode), families));
    }
  });
}

async function compareOutcomes(settings: CaseSettings, families: readonly Family[]): Promise<void> {
  const cluster = Cluster.create();
  const endpoints = new Endpoints(cluster);
  try {
    const slices = OBJECTS.filter(object => object.kind === 'EndpointSlice');
    const sockets = { listedNamespaces: socketsOfNode(cluster, slices) };
    const proxy = startProxy(settings.mode, cluster.node, settings, { families, sockets });
    try {
      const changes = new CaseObjects().apply({ set: OBJECTS, removed: [] });
      await proxy.apply(changes);
      await endpoints.serve(slices);
      const state = new ProxyState({ nodeName: NODE_NAME, settings: settings.plan, startedAt: 0, report: () => {} });
      handOver(changes, state);
      state.take();
      const turns = new KeyedTurns();
      const compared = askedQuestions(families).map(async question => {
        const expected = resultIn(question, caseOutcome(question, state, settings));
        // Where endpoints take turns, two callers that ask at the same time might each see every other endpoint only.
        const mustWait = caseMode(settings).behaviour.choice.kind !== 'random' && expected.answers.size > 0;
        const key = mustWait ? 'answered' : question.text;
        const seen = await turns.take(key, () => observe(question, expected, cluster, endpoints));
        return { expected: lineOf(question, expected), seen: lineOf(question, seen) };
      });
      const lines = await Promise.all(compared);
      assert.deepEqual(
        lines.map(({ seen }) => seen),
        lines.map(({ expected }) => expected),
      );
    } finally {
      await proxy.close();
    }
  } finally {
    await endpoints.close();
    cluster.close();
  }
}

function askedQuestions(families: readonly Family[]): readonly Question<RecordedSource>[] {
  const sources = recordedSources(OBJECTS.filter(object => object.kind === 'EndpointSlice'));
  return DESTINATIONS.map(text => text.split(' ')).flatMap(([text = '', port = '', protocol = 'TCP']) => {
    const ip = address(text);
    if (!families.includes(familyOf(ip))) return [];
    const callers = sources[familyOf(ip)].filter(({ name }) => canSend(name, ip));
    return callers.map(source => ({
      text: `${protocol} ${text} ${port} from ${source.name}`,
      service: NO_AFFINITY,
      source,
      ip,
      port: Number(port),
      protocol: protocol as ProbeProtocol,
    }));
  });
}

const NO_AFFINITY: Service = service('any');

/** A loopback address is the caller's own machine, and ext has no route to the network of pods. */
function canSend(source: string, ip: Ip): boolean {
  if (isLoopback(ip)) return source === 'node';
  return source !== 'ext' || ip !== podGateway(familyOf(ip));
}

/** For a rejected IPv6 connection, the caller may learn of it only when it sends its first packet again, after 1 s. */
const TIMEOUT_MS = 2500;
/** If some answers get lost, about every second try takes so long. The other tries show all answers. */
const LOST_TIMEOUT_MS = 600;
const MAX_ROUNDS = 8;

/** A probe ends after two failures. If an answer is expected, the caller asks again, because both may be chance. */
async function observe(
  { source, ip, port, protocol }: Question<RecordedSource>,
  expected: ProbeResult,
  cluster: Cluster,
  endpoints: Endpoints,
): Promise<ProbeResult> {
  const namespace = clusterSources(cluster, endpoints)[familyOf(ip)].find(
    ({ name }) => name === source.name,
  )?.namespace;
  assert.ok(namespace);
  const failures = new Set<string>();
  for (let round = 1; ; round++) {
    const result = await probe(namespace, ip, port, protocol, probeOptions(expected));
    // On a busy machine an endpoint may have answered too late once. If answers really get lost, a later round shows it.
    if (result.failures.size > 0 && isAnswered(expected) && round < MAX_ROUNDS) continue;
    for (const failure of result.failures) failures.add(failure);
    const isDone = result.answers.size > 0 || expected.answers.size === 0 || round === MAX_ROUNDS;
    if (isDone) return { answers: result.answers, failures };
  }
}

function probeOptions({ answers, failures }: ProbeResult): ProbeOptions {
  if (!failures.has('timeout')) return { timeoutMs: TIMEOUT_MS };
  return answers.size > 0 ? { timeoutMs: LOST_TIMEOUT_MS } : { timeoutMs: TIMEOUT_MS, tries: 1 };
}

function isAnswered({ answers, failures }: ProbeResult): boolean {
  return answers.size > 0 && failures.size === 0;
}

/** It depends on the hook at which a mode rejects datagrams of the node itself whether the caller sees EPERM. */
function lineOf(question: Question<RecordedSource>, { answers, failures }: ProbeResult): string {
  const names = new Set([...failures].map(failure => (failure === 'EPERM' ? 'refused' : failure)));
  return `${question.text} => ${describeAnswers(question, { answers, failures: names })}`;
}
