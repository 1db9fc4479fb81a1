import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { nft } from '../support/nftables-mode.ts';
import { type Backend, type ModeName, type ProxyChoice, SwapStage, type Version } from './swap-stage.ts';
import { SwapTraffic } from './swap-traffic.ts';

/** An upstream proxy deletes chains only if no rule used them for a second. */
const STALE_MS = 1200;

/** Connections a second, from the node and from outside each. */
const RATE = 500;
/** In userspace mode all bytes go through our process. */
const USERSPACE_RATE = 100;

/** What an upstream proxy logs if the kernel refuses its rules. */
const FAILURES = /sync failed|Unable to delete stale|Failed to execute iptables-restore|Failed to sync/i;

/** With these, upstream deletes the set nodeport-ips. */
const ALL_ADDRESSES = ['0.0.0.0/0', '::/0'];

const ours = (mode: ModeName, backend?: Backend): ProxyChoice => ({ program: 'ours', mode, backend });

/** Upstream, ours, upstream, ours. */
function thereAndBack(program: Version, mode: ModeName, backend?: Backend): readonly ProxyChoice[] {
  const upstream = { program, mode, backend };
  return [upstream, ours(mode, backend), upstream, ours(mode, backend)];
}

describe('proxies that follow one another', () => {
  let stage: SwapStage;
  let traffic: SwapTraffic;

  before(async () => {
    stage = await SwapStage.open();
    traffic = await SwapTraffic.prepare(stage);
  });

  after(() => stage?.close());

  const sequences: readonly (readonly [title: string, proxies: readonly ProxyChoice[]])[] = [
    ['E2E-40 v1.36 and ours in nftables mode', thereAndBack('v1.36', 'nftables')],
    ['E2E-40 v1.37 and ours in nftables mode', thereAndBack('v1.37', 'nftables')],
    [
      'E2E-40 v1.37 with node ports at all addresses, and ours in nftables mode',
      thereAndBack('v1.37', 'nftables').map(proxy =>
        proxy.program === 'ours' ? proxy : { ...proxy, nodePortAddresses: ALL_ADDRESSES },
      ),
    ],
    ['E2E-40 v1.36 and ours in iptables mode', thereAndBack('v1.36', 'iptables', 'nft')],
    ['E2E-40 v1.37 and ours in iptables mode, legacy backend', thereAndBack('v1.37', 'iptables', 'legacy')],
    ['E2E-41 restarts in nftables mode', [ours('nftables'), ours('nftables'), ours('nftables')]],
    ['E2E-41 restarts in iptables mode', [ours('iptables'), ours('iptables'), ours('iptables')]],
    ['E2E-41 changes of our mode', [ours('nftables'), ours('iptables'), ours('nftables')]],
    ['E2E-41 a change to userspace mode', [ours('iptables'), ours('userspace')]],
    [
      'E2E-41 v1.36 in iptables mode, then ours in nftables mode',
      [...thereAndBack('v1.36', 'iptables').slice(0, 1), ours('nftables')],
    ],
  ];
  for (const [title, [first, ...next]] of sequences) {
    test(`${title}: no connection fails, and each proxy programs all changes`, async t => {
      assert.ok(first);
      await stage.clear();
      await traffic.setEndpoints(0);
      await stage.swap(first);
      await traffic.untilProgrammed(0);
      await stage.forgetAttempts();
      const modes = new Set([first, ...next].map(({ mode }) => mode));
      await traffic.start(modes.has('userspace') ? USERSPACE_RATE : RATE);
      t.after(() => traffic.stop());
      for (const choice of next) {
        const proxy = await stage.swap(choice);
        // The second change comes when the chains that the first one replaced are stale.
        for (const index of [1, 0] as const) {
          await traffic.setEndpoints(index);
          await traffic.untilProgrammed(index);
          await delay(STALE_MS);
        }
        assert.deepEqual(
          proxy.lines.filter(line => FAILURES.test(line)),
          [],
        );
      }
      const { failures, counts } = await traffic.stop();
      t.diagnostic(counts.map(({ name, answered, slowestMs }) => `${name} ${answered} in ${slowestMs} ms`).join(', '));
      assert.deepEqual(failures.slice(0, 20), [], `${failures.length} failures`);
      const remembered = counts.find(({ name }) => name === 'remembered');
      if (modes.size === 1) assert.equal(Object.keys(remembered?.answers ?? {}).length, 1, 'session affinity lasts');
    });
  }

  test('NFT-6 when we come back from upstream, the table is that of a fresh start', async () => {
    const listed = async (...proxies: readonly ProxyChoice[]) => {
      await stage.clear();
      await traffic.setEndpoints(0);
      for (const proxy of proxies) {
        await stage.swap(proxy);
        await traffic.untilProgrammed(0);
      }
      return () =>
        ['ip', 'ip6'].flatMap(family => namesIn(nft(stage.network.node, 'list', 'table', family, 'kube-proxy')));
    };
    const fresh = String((await listed(ours('nftables')))());
    const names = await listed(...thereAndBack('v1.37', 'nftables'));
    await stage.proxy.waitFor('remove what upstream left', () => String(names()) === fresh, 10_000);
  });
});

/** The names of all chains, sets and maps. */
function namesIn(ruleset: string): readonly string[] {
  return (ruleset.match(/^(?:table|\t(?:chain|set|map|counter)) .*(?= \{)/gm) ?? []).sort();
}
