import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Cluster, type ProbeResult, probe } from '../../src/demo/playground/index.ts';
import { hostCidr, joinHostPort } from '../../src/net/index.ts';
import { summaryOf, type TracedPacket, Tracer } from '../../src/trace/index.ts';
import { waitFor } from '../support/wait-for.ts';
import { forgetFlows } from './ask.ts';
import { CaseObjects } from './case-objects.ts';
import { Endpoints } from './endpoints.ts';
import { clusterSources, type Question, questions } from './matrix.ts';
import { caseFolders, readCase } from './recorded-case.ts';
import { caseSettings } from './settings.ts';
import { startProxy } from './start-proxy.ts';

const SAMPLED_SOURCES: ReadonlySet<string> = new Set(['pod', 'node', 'ext']);
/** Fewer than the trace marks in a second, so that it leaves out none. */
const CONCURRENT_QUESTIONS = 40;
/** Most of a case is waiting for answers that do not come. */
const CONCURRENT_CASES = 6;
/** On a busy machine an endpoint may need more than a second to answer. */
const TIMEOUT_MS = 3000;
const IPTABLES_CASES = ['dual-stack', 'loadbalancer-source-ranges', 'nodeport-local', 'session-affinity'];

describe('traced packets of recorded cases', { concurrency: CONCURRENT_CASES }, () => {
  for (const folder of caseFolders('nftables')) {
    test(`TRACE-8 ${folder}: the trace ends where the connection was answered`, () => traceCase(folder, 'nftables'));
  }
  for (const name of IPTABLES_CASES) {
    test(`TRACE-8 ${name} with iptables-nft: the same`, () => traceCase(`test/cases/${name}`, 'iptables'));
  }
});

async function traceCase(folder: string, mode: 'nftables' | 'iptables'): Promise<void> {
  const { configuration, steps } = await readCase(folder);
  const cluster = Cluster.create();
  const endpoints = new Endpoints(cluster);
  const proxy = startProxy(mode, cluster.node, caseSettings(configuration, mode), { backend: 'nf_tables' });
  try {
    const objects = new CaseObjects();
    for (const step of steps) {
      await proxy.apply(objects.apply(step));
      await endpoints.serve(step.set.filter(object => object.kind === 'EndpointSlice'));
      await forgetFlows(cluster.node);
      const asked = questions(objects.services, clusterSources(cluster, endpoints)).filter(({ source }) =>
        SAMPLED_SOURCES.has(source.name),
      );
      for (let from = 0; from < asked.length; from += CONCURRENT_QUESTIONS) {
        await traceQuestions(asked.slice(from, from + CONCURRENT_QUESTIONS), cluster);
      }
    }
  } finally {
    await proxy.close();
    await endpoints.close();
    cluster.close();
  }
}

/** Asks each question once, and compares the packet of that very connection with its answer. */
async function traceQuestions(asked: readonly Question[], cluster: Cluster): Promise<void> {
  const packets: TracedPacket[] = [];
  const failures: unknown[] = [];
  const tracer = await Tracer.open(
    {
      source: undefined,
      destinations: asked.map(({ ip, port, protocol }) => ({ address: hostCidr(ip), port, protocol })),
    },
    {
      traced: packet => packets.push(packet),
      overrun: () => failures.push('overrun'),
      failed: error => failures.push(error),
    },
    { namespace: cluster.node },
  );
  try {
    const ask = ({ source, ip, port, protocol }: Question) =>
      probe(source.namespace, ip, port, protocol, { tries: 1, timeoutMs: TIMEOUT_MS });
    const results = await Promise.all(asked.map(ask));
    const firstPacket = (question: Question) => packets.find(packet => isFirstPacketOf(packet, question));
    await waitFor('a packet of every connection', () =>
      asked.every((question, i) => !sends(results[i]) || firstPacket(question) !== undefined),
    );
    for (const [i, question] of asked.entries()) {
      const result = results[i];
      if (!result || !sends(result)) continue;
      const packet = firstPacket(question);
      assert.ok(packet);
      assertSame(question, result, packet);
    }
    assert.deepEqual(failures, []);
  } finally {
    await tracer.close();
  }
}

/** A caller without a route sends nothing. */
function sends(result: ProbeResult | undefined): boolean {
  return !result?.failures.has('ENETUNREACH');
}

/** The interface through which the packets of a source come in. Packets of the node come through none. */
const INTERFACES: Readonly<Record<string, string | undefined>> = { pod: 'cni0', ext: 'eth0', node: undefined };

function isFirstPacketOf(packet: TracedPacket, { source, ip, port, protocol }: Question): boolean {
  return (
    packet.first.destination === joinHostPort(ip, port) &&
    packet.protocol === protocol.toLowerCase() &&
    packet.inInterface === INTERFACES[source.name] &&
    (protocol === 'UDP' || packet.tcpFlags === 'SYN')
  );
}

/** `10.244.2.3:8080 as 192.168.0.2`: the endpoint, and the caller that it sees. */
function tracedAnswer({ last }: TracedPacket): string {
  return `${last.destination} as ${last.source.replace(/:\d+$/, '').replaceAll(/[[\]]/g, '')}`;
}

function assertSame(question: Question, result: ProbeResult, packet: TracedPacket): void {
  const [answer] = result.answers.keys();
  const text = `${question.text}: ${[...result.failures]} ${summaryOf(packet)}`;
  const { kind } = packet.outcome;
  if (answer !== undefined) {
    const [ip = '', port = '', caller] = answer.split(' ');
    assert.ok(kind === 'left' || kind === 'delivered', text);
    assert.equal(tracedAnswer(packet), `${joinHostPort(ip, port)} as ${caller}`, text);
  } else if (result.failures.has('timeout')) {
    // Where no rule drops, no machine has the address that the packet leaves for.
    assert.ok(kind === 'dropped' || (kind === 'left' && packet.first.destination === packet.last.destination), text);
  } else {
    // Where no rule rejects, the node itself refuses, because no program listens at the port.
    assert.ok(
      kind === 'rejected' || (kind === 'delivered' && packet.first.destination === packet.last.destination),
      text,
    );
  }
}
