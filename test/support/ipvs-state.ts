import { IpsetSocket, printCommand } from '../../src/kernel/ipset/index.ts';
import { IpvsSocket, printChange } from '../../src/kernel/ipvs/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { RouteSocket } from '../../src/kernel/rtnetlink/index.ts';
import { LINK } from '../../src/modes/ipvs/names.ts';
import type { Family } from '../../src/net/index.ts';
import { runIn } from './run-in.ts';

/** Chains that have a rule for each Service, in any order. */
const UNORDERED = ['KUBE-SERVICES', 'KUBE-PROXY-FIREWALL', 'KUBE-IPVS-OUT-FILTER'];

/**
 * Everything that ipvs mode wrote to the kernel, as the reference programs list it, in an order that does not depend on
 * history. iptables-save is the only program that this runs, because starting a program takes long in a guest. The
 * tests of src/kernel compare our own lists with those of ipvsadm, ipset and ip.
 */
export function ipvsState(namespace: NetworkNamespace): State {
  return {
    ...stateWithoutRules(namespace),
    'iptables.v4.txt': rulesOf(namespace, 'IPv4'),
    'iptables.v6.txt': rulesOf(namespace, 'IPv6'),
  };
}

export type State = Readonly<Record<string, string>>;

export function stateWithoutRules(namespace: NetworkNamespace): State {
  return { 'addrs.txt': addresses(namespace), 'ipset.txt': sets(namespace), 'ipvs.txt': servers(namespace) };
}

export function rulesOf(namespace: NetworkNamespace, family: Family): string {
  return canonicalRules(runIn(namespace, family === 'IPv4' ? 'iptables-save' : 'ip6tables-save'));
}

export function sortedLines(text: string): string {
  const lines = text.split('\n').map(line => line.trim());
  return `${lines.filter(Boolean).sort().join('\n')}\n`;
}

/** The output of iptables-save, with tables, chains and unordered rules sorted. */
export function canonicalRules(save: string): string {
  const tables = save
    .split(/^\*/m)
    .slice(1)
    .map(text => {
      const [name = '', ...lines] = text.split('\n').map(line => line.trim());
      const chains = lines.filter(line => line.startsWith(':')).map(line => line.slice(1).split(' '));
      const rules = lines.filter(line => line.startsWith('-A '));
      const heads = chains.map(([chain, policy]) => `:${chain} ${policy}`).sort();
      const bodies = chains
        .map(([chain = '']) => chain)
        .sort()
        .flatMap(chain => {
          const own = rules.filter(rule => rule.split(' ')[1] === chain);
          return UNORDERED.includes(chain) ? own.sort() : own;
        });
      return [`*${name}`, ...heads, ...bodies, 'COMMIT'].join('\n');
    });
  return `${tables.sort().join('\n')}\n`;
}

function addresses(namespace: NetworkNamespace): string {
  const socket = RouteSocket.open({ namespace });
  try {
    const link = socket.link(LINK);
    const lines = link ? socket.addresses({ link }).map(({ ip, prefix }) => `inet ${ip}/${prefix}`) : ['absent'];
    return sortedLines(lines.map(line => (line.includes(':') ? line.replace('inet', 'inet6') : line)).join('\n'));
  } finally {
    socket.close();
  }
}

function sets(namespace: NetworkNamespace): string {
  const socket = IpsetSocket.open({ namespace });
  try {
    const lines = [...socket.save()].map(printCommand).join('\n');
    return sortedLines(lines.replaceAll(/ (?:hashsize|bucketsize|initval) \S+/g, ''));
  } finally {
    socket.close();
  }
}

/** The virtual servers as `ipvsadm -S -n` lists them. */
export function servers(namespace: NetworkNamespace): string {
  const socket = IpvsSocket.open({ namespace });
  try {
    const lines = socket
      .services()
      .flatMap(service => [
        printChange({ kind: 'new-service', service }),
        ...socket
          .destinations(service.key)
          .map(destination => printChange({ kind: 'new-dest', service: service.key, destination })),
      ]);
    return sortedLines(lines.join('\n'));
  } finally {
    socket.close();
  }
}
