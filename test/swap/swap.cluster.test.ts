import { after, before, describe, test } from 'node:test';
import { nft } from '../support/nftables-mode.ts';
import { assertSeamless, ours, thereAndBack } from './sequence.ts';
import { type ProxyChoice, SwapStage } from './swap-stage.ts';
import { SwapTraffic } from './swap-traffic.ts';

/** Connections a second, from the node and from outside each. */
const RATE = 500;
/** In userspace mode all bytes go through our process. */
const USERSPACE_RATE = 100;

/** With these, upstream deletes the set nodeport-ips. */
const ALL_ADDRESSES = ['0.0.0.0/0', '::/0'];

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
  for (const [title, proxies] of sequences) {
    test(`${title}: no connection fails, and each proxy programs all changes`, async t => {
      const rate = proxies.some(({ mode }) => mode === 'userspace') ? USERSPACE_RATE : RATE;
      await assertSeamless(t, stage, traffic, { proxies, rate, changes: 2 });
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
