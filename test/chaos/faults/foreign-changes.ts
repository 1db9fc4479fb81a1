import { Program } from '../../control-plane/program.ts';
import { Random } from '../schedule/random.ts';
import type { ModeName } from '../world/modes.ts';
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
const PINS = ['rm -f /sys/fs/bpf/pointsman/*/link-connect4', 'rm -rf /sys/fs/bpf/pointsman/*'];
const IPTABLES = ['-t nat -F KUBE-SERVICES', '-t nat -F KUBE-NODEPORTS', '-t nat -F', '-F KUBE-FORWARD', '-F'];

const PORTALS = [
  '-t nat -F KUBE-PORTALS-CONTAINER',
  '-t nat -F KUBE-PORTALS-HOST',
  '-t nat -F KUBE-NODEPORT-HOST',
  '-F KUBE-PORTALS-FILTER',
  '-t nat -F',
  '-F',
];

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
  async run({ network, proxy, mounts, log }, { aSecond, count, order }) {
    const commands = commandsFor(proxy.mode, new Random(order), Math.min(count, aSecond * 6));
    // A command does not wait for the one before it, because it may take longer than the pause.
    const script = commands.map(command => `${command} >/dev/null 2>&1 & sleep ${1 / aSecond}`).join('\n');
    const began = performance.now();
    await new Program('foreign', mounts.command('sh', '-c', `${script}\nwait`), { namespace: network.node }).exit;
    log.note(`${commands.length} foreign changes in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  },
};

function commandsFor(mode: ModeName, random: Random, count: number): readonly string[] {
  const all = allCommands(mode);
  return Array.from({ length: count }, () => random.pick(all));
}

function allCommands(mode: ModeName): readonly string[] {
  const nft = NFT.map(command => `nft '${command}'`);
  switch (mode) {
    case 'nftables':
      return nft;
    case 'ebpf':
      return [...nft, ...PINS];
    case 'iptables':
      return IPTABLES.map(command => `iptables -w ${command}`);
    case 'userspace':
      return PORTALS.map(command => `iptables -w ${command}`);
  }
}
