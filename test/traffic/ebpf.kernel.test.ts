import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Cluster, placementOf } from '../../src/demo/playground/index.ts';
import { ConntrackSocket, L4 } from '../../src/kernel/conntrack/index.ts';
import { familyOf, type Ip } from '../../src/net/index.ts';
import { CLIENT_POD, type Question } from './matrix.ts';
import { startProxyIn } from './start-proxy.ts';
import { type AfterStep, type StartProxy, trafficCase, trafficSuite } from './suite.ts';

const startWithSockets: StartProxy = async options => {
  const proxy = await startProxyIn('ebpf')(options);
  return {
    async apply(...changes) {
      await proxy.apply(...changes);
      assert.equal(proxy.mode.condition?.()?.isServing, true);
    },
    close: () => proxy.close(),
  };
};

function isLocalPod(ip: Ip): boolean {
  return placementOf(ip).kind === 'pod';
}

/** The hosts that are no part of the node: their names, and the addresses of their flows. */
const OUTSIDE: Readonly<Record<string, string>> = {
  ext: 'ext',
  '192.168.0.100': 'ext',
  'fd00:192:168::100': 'ext',
  'other-node': 'other-node',
  '192.168.0.3': 'other-node',
  'fd00:192:168::3': 'other-node',
};

/** Counts what processes of the node ask over TCP with success, and keeps what the network served of it. */
class NetworkShare {
  readonly byNetwork = new Set<string>();
  asked = 0;

  /** A connection that was translated at its socket has no flow to the Service's address. */
  readonly afterStep: AfterStep = (cluster, questions, results) => {
    const flows = flowsOf(cluster);
    for (const [i, question] of questions.entries()) {
      const { protocol, source, ip, port, text } = question;
      if (protocol !== 'TCP' || source.name in OUTSIDE || results[i]?.answers.size === 0) continue;
      this.asked++;
      if (flows.has(`${callerOf(question)} ${ip} ${port}`)) this.byNetwork.add(text);
    }
  };
}

function callerOf({ source: { name }, ip }: Question): string {
  if (name === 'pod') return CLIENT_POD[familyOf(ip)];
  return /^self\((.*)\)$/.exec(name)?.[1] ?? 'node';
}

/** The caller and the destination of each TCP flow of the node. */
function flowsOf(cluster: Cluster): ReadonlySet<string> {
  const conntrack = ConntrackSocket.open({ namespace: cluster.node });
  const texts = new Set<string>();
  try {
    for (const { protocol, original } of conntrack.dump()) {
      if (protocol !== L4.TCP) continue;
      const { src, dst, dstPort } = original;
      texts.add(`${OUTSIDE[src] ?? (isLocalPod(src) ? src : 'node')} ${dst} ${dstPort}`);
    }
    return texts;
  } finally {
    conntrack.close();
  }
}

/** The cases with source ranges, and those pods that must be masqueraded. */
const LEFT_TO_NETWORK: readonly string[] = [
  'lbsr-local:80/tcp lbIP 203.0.113.57:80 from pod',
  'lbsr-local:80/tcp lbIP 203.0.113.57:80 from self(10.244.1.2)',
  'lbsr-local:80/tcp lbIP 203.0.113.58:80 from pod',
  'lbsr-local:80/tcp lbIP 203.0.113.58:80 from self(10.244.1.2)',
  'lbsr-self:80/tcp lbIP 203.0.113.56:80 from node',
  'web:80/tcp clusterIP 10.96.0.10:80 from pod',
  'web:80/tcp clusterIP 10.96.0.10:80 from self(10.244.1.2)',
  'web:80/tcp lbIP 203.0.113.10:80 from pod',
  'web:80/tcp lbIP 203.0.113.10:80 from self(10.244.1.2)',
  'web:80/tcp nodePort 192.168.0.2:30010 from pod',
  'web:80/tcp nodePort 192.168.0.2:30010 from self(10.244.1.2)',
];
const ASKED = 408;

describe('traffic with sockets', () => {
  const share = new NetworkShare();
  trafficSuite('EBPF-2', 'ebpf', startWithSockets, share.afterStep);

  test('EBPF-2 sockets served everything that they can serve', () => {
    assert.equal(share.asked, ASKED);
    assert.deepEqual([...share.byNetwork].sort(), LEFT_TO_NETWORK);
  });

  test('EBPF-2 without sockets the network serves everything', async () => {
    const share = new NetworkShare();
    await trafficCase('test/cases/clusterip-basic', 'nftables', startProxyIn('nftables'), share.afterStep);
    assert.deepEqual([share.byNetwork.size, share.asked], [3, 3]);
  });
});
