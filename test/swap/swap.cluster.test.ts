import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Program } from '../control-plane/program.ts';
import { dualStackService, service, slice } from '../e2e/objects.ts';
import { NODE_IP, NODE_IP6 } from '../support/namespaces.ts';
import { type ProxyChoice, SwapStage } from './swap-stage.ts';

const WEB = ['10.96.7.1', 'fd00:10:96::7:1'] as const;
const STICKY = '10.96.7.2';
const GUARDED = '203.0.113.7';
const PODS = ['10.244.1.71', '10.244.1.72'] as const;
const PODS6 = ['fd00:10:244:1::71', 'fd00:10:244:1::72'] as const;
const NODE_PORT = 30071;
const RATE = 500;
/** An upstream proxy deletes chains only if they were unused for a second. */
const STALE_MS = 1200;

const FAILURES = /sync failed|Unable to delete stale|Failed to execute iptables-restore|Failed to sync/;

const upstream = (program: 'v1.36' | 'v1.37', mode: ProxyChoice['mode'], backend?: ProxyChoice['backend']) =>
  ({ program, mode, backend }) as const;
const ours = (mode: ProxyChoice['mode'], backend?: ProxyChoice['backend']) =>
  ({ program: 'ours', mode, backend }) as const;

const SEQUENCES: readonly (readonly [title: string, proxies: readonly ProxyChoice[]])[] = [
  [
    'nftables mode of v1.36',
    [upstream('v1.36', 'nftables'), ours('nftables'), upstream('v1.36', 'nftables'), ours('nftables')],
  ],
  [
    'nftables mode of v1.37',
    [upstream('v1.37', 'nftables'), ours('nftables'), upstream('v1.37', 'nftables'), ours('nftables')],
  ],
  [
    'iptables mode of v1.36',
    [upstream('v1.36', 'iptables'), ours('iptables'), upstream('v1.36', 'iptables'), ours('iptables')],
  ],
  [
    'iptables mode of v1.37 with the legacy backend',
    [
      upstream('v1.37', 'iptables', 'legacy'),
      ours('iptables', 'legacy'),
      upstream('v1.37', 'iptables', 'legacy'),
      ours('iptables', 'legacy'),
    ],
  ],
  [
    'own modes',
    [
      ours('nftables'),
      ours('nftables'),
      ours('iptables'),
      ours('iptables'),
      ours('userspace'),
      ours('userspace'),
      ours('nftables'),
      ours('userspace'),
      ours('iptables'),
      ours('nftables'),
    ],
  ],
  [
    'mode iptables of v1.36 and nftables',
    [upstream('v1.36', 'iptables'), ours('nftables'), upstream('v1.36', 'iptables'), ours('nftables')],
  ],
];

describe('proxies that follow one another', () => {
  let stage: SwapStage;

  before(async () => {
    stage = await SwapStage.open();
    for (const pod of [...PODS, ...PODS6]) await stage.addPod(pod);
    const { controlPlane } = stage;
    const ports = [{ name: 'http', port: 80, targetPort: 8080, nodePort: NODE_PORT }];
    await controlPlane.apply(dualStackService('web', WEB, { type: 'NodePort', ports }));
    await controlPlane.apply(service('sticky', STICKY, { sessionAffinity: 'ClientIP' }));
    await controlPlane.apply({
      ...service('guarded', '10.96.7.3', { type: 'LoadBalancer', loadBalancerSourceRanges: ['192.168.0.0/24'] }),
      status: { loadBalancer: { ingress: [{ ip: GUARDED }] } },
    });
    await controlPlane.apply(service('idle', '10.96.7.4'));
  });

  after(() => stage?.close());

  /** Lets all Services lead to the first or to the second pod. */
  async function setEndpoints(index: 0 | 1): Promise<void> {
    for (const name of ['web-1', 'sticky-1', 'guarded-1']) await stage.controlPlane.apply(slice(name, [PODS[index]]));
    await stage.controlPlane.apply(slice('web-2', [PODS6[index]]));
  }

  async function untilProgrammed(index: 0 | 1): Promise<void> {
    await stage.untilAnsweredBy(WEB[0], 80, PODS[index]);
    await stage.untilAnsweredBy(WEB[1], 80, PODS6[index]);
    await stage.untilAnsweredBy(STICKY, 80, PODS[index]);
    await stage.untilAnsweredBy(GUARDED, 80, PODS[index]);
    await stage.untilNodePortAnsweredBy(NODE_PORT, PODS[index]);
  }

  async function pollers(): Promise<readonly Program[]> {
    const { network } = stage;
    const targets = [`web=${WEB[0]}:80`, `web6=${WEB[1]}:80`, `sticky=${STICKY}:80`];
    const outside = [`nodeport=${NODE_IP}:${NODE_PORT}`, `nodeport6=${NODE_IP6}:${NODE_PORT}`, `guarded=${GUARDED}:80`];
    return [await stage.poll(network.node, RATE, ...targets), await stage.poll(network.host('ext'), RATE, ...outside)];
  }

  for (const [title, [first, ...proxies]] of SEQUENCES) {
    test(`E2E-40 ${title}: no connection fails, and each proxy programs all changes`, async t => {
      if (!first) throw new Error('no proxy');
      await stage.clear();
      await setEndpoints(0);
      await stage.swap(first);
      await untilProgrammed(0);
      const running = await pollers();
      let index: 0 | 1 = 0;
      const problems: string[] = [];
      for (const proxy of proxies) {
        const name = `${proxy.program} ${proxy.mode}`;
        const from = running.map(({ lines }) => lines.length);
        await stage.swap(proxy);
        const program = stage.proxy;
        try {
          // The second change comes when the chains of the first one are stale.
          for (let change = 0; change < 2; change++) {
            index = index === 0 ? 1 : 0;
            await setEndpoints(index);
            await untilProgrammed(index);
            await delay(STALE_MS);
          }
        } catch (error) {
          problems.push(`${name}: ${(error as Error).message}`);
        }
        problems.push(
          ...program.lines
            .filter(line => FAILURES.test(line))
            .slice(0, 3)
            .map(line => `${name}: ${line}`),
        );
        running.forEach(({ lines }, i) => {
          const failed = lines.slice(from[i]);
          if (failed.length > 0)
            problems.push(`${name}: ${failed.length} connections failed`, ...failed.slice(0, 3), failed.at(-1) ?? '');
        });
      }
      const polled = (await Promise.all(running.map(poller => stage.endPolling(poller)))).flat();
      t.diagnostic(
        polled
          .map(({ name, answered, failed, slowestMs }) => `${name} ${answered}/${failed} ${slowestMs}ms`)
          .join(', '),
      );
      assert.deepEqual(problems, []);
      assert.deepEqual(
        polled.filter(({ failed }) => failed > 0),
        [],
      );
    });
  }
});
