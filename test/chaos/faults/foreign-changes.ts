import { Program } from '../../control-plane/program.ts';
import { Random } from '../schedule/random.ts';
import type { ModeName } from '../world/proxy.ts';
import { CHANGED, STABLE } from '../world/services.ts';
import type { Fault } from './fault.ts';

/** Commands of another program that changes our rules. Some find nothing to change. */
const NFT = [
  'add element ip kube-proxy cluster-ips { 10.111.0.1 }',
  `delete element ip kube-proxy cluster-ips { ${STABLE[0]?.clusterIP} }`,
  `delete element ip kube-proxy cluster-ips { ${CHANGED[0]?.clusterIP} }`,
  `delete element ip kube-proxy service-numbers { ${STABLE[1]?.clusterIP} . tcp . 80 }`,
  'flush set ip kube-proxy cluster-ips',
  'flush map ip kube-proxy service-numbers',
  'flush map ip kube-proxy cluster-endpoints',
  'flush chain ip kube-proxy services',
  'add rule ip kube-proxy services counter',
  'add chain ip kube-proxy foreign',
  'add rule ip6 kube-proxy services counter',
  'delete table ip kube-proxy',
  'delete table ip6 kube-proxy',
];
const IPTABLES = ['-t nat -F KUBE-SERVICES', '-t nat -F KUBE-NODEPORTS', '-t nat -F', '-F KUBE-FORWARD', '-F'];

/** Another program changes our rules, up to a hundred times a second. */
export const foreignChanges: Fault<{ readonly aSecond: number; readonly count: number; readonly order: number }> = {
  name: 'foreign-changes',
  target: 'kernel',
  impairs: ['rules', 'knowledge'],
  recoveryMs: 60_000,
  choose: random => ({
    aSecond: random.pick([1, 10, 100]),
    count: random.between(3, 200),
    order: random.between(0, 1_000_000),
  }),
  async run({ network, proxy }, { aSecond, count, order }) {
    const commands = commandsFor(proxy.mode, new Random(order), Math.min(count, aSecond * 6));
    const script = commands.map(command => `${command} 2>&1 >/dev/null; sleep ${1 / aSecond}`).join('\n');
    await new Program('foreign', ['sh', '-c', script], { namespace: network.node }).exit;
  },
};

function commandsFor(mode: ModeName, random: Random, count: number): readonly string[] {
  return Array.from({ length: count }, () =>
    mode === 'nftables' ? `nft '${random.pick(NFT)}'` : `iptables -w ${random.pick(IPTABLES)}`,
  );
}
