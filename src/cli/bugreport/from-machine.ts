import { release, version } from 'node:os';
import { isModuleLoaded, type KernelModule } from '../../kernel/loaded-modules.ts';
import { runProgram } from '../../kernel/programs/index.ts';
import { readSysctl } from '../../kernel/sysctl.ts';
import { errorText } from '../../lib/error-text.ts';
import { KUBERNETES_VERSION } from '../../lib/kubernetes-version.ts';
import { VERSION } from '../version.ts';
import { MAX_PART_LENGTH, type Part } from './part.ts';

const TIMEOUT_MS = 30_000;

/**
 * Listings of the kernel's state, in every mode: rules of an earlier mode can be the cause of a problem. Some programs
 * would load the module that they need. They run only if it is loaded, because a report changes nothing.
 */
const LISTINGS: readonly (readonly [file: string, about: string, command: string, module?: KernelModule])[] = [
  ['nft-ip.txt', 'the table of nftables mode, IPv4', 'nft -n list table ip kube-proxy'],
  ['nft-ip6.txt', 'the table of nftables mode, IPv6', 'nft -n list table ip6 kube-proxy'],
  ['nft-all-tables.txt', 'the rules of all tables of nftables, without the elements of sets', 'nft -t list ruleset'],
  ['iptables.txt', 'the rules of iptables, IPv4', 'iptables-save -c'],
  ['ip6tables.txt', 'the rules of iptables, IPv6', 'ip6tables-save -c'],
  ['iptables-legacy.txt', 'the rules of the other backend of iptables, IPv4', 'iptables-legacy-save -c', 'ip_tables'],
  [
    'ip6tables-legacy.txt',
    'the rules of the other backend of iptables, IPv6',
    'ip6tables-legacy-save -c',
    'ip6_tables',
  ],
  ['ipvs.txt', 'virtual servers and real servers', 'ipvsadm -S -n', 'ip_vs'],
  ['ipset.txt', 'IP sets', 'ipset save', 'ip_set'],
  ['bpf-links.txt', 'BPF programs that are attached, such as those of ebpf mode', 'bpftool link'],
  ['bpf-maps.txt', 'BPF maps and their sizes', 'bpftool map'],
  ['bpf-programs.txt', 'BPF programs at control groups', 'bpftool cgroup tree'],
  ['addresses.txt', 'links and addresses', 'ip addr'],
  ['routes.txt', 'routes of all tables', 'ip route show table all'],
  ['rules.txt', 'rules of routing', 'ip rule'],
  ['listeners.txt', 'ports that programs listen on', 'ss -H -lntu'],
];

const PROGRAMS = ['nft --version', 'iptables --version', 'ipset --version', 'conntrack --version'];

const SYSCTLS = [
  'net/netfilter/nf_conntrack_count',
  'net/netfilter/nf_conntrack_max',
  'net/netfilter/nf_conntrack_buckets',
  'net/netfilter/nf_conntrack_tcp_be_liberal',
  'net/netfilter/nf_conntrack_tcp_timeout_established',
  'net/netfilter/nf_conntrack_tcp_timeout_close_wait',
  'net/netfilter/nf_conntrack_udp_timeout',
  'net/netfilter/nf_conntrack_udp_timeout_stream',
  'net/ipv4/ip_forward',
  'net/ipv4/vs/conntrack',
  'net/ipv4/vs/expire_nodest_conn',
  'net/ipv4/conf/all/rp_filter',
  'net/ipv4/conf/all/route_localnet',
  'net/ipv4/conf/all/arp_ignore',
  'net/ipv4/conf/all/arp_announce',
  'net/ipv4/ip_local_port_range',
  'net/ipv4/ip_local_reserved_ports',
  'net/ipv6/conf/all/forwarding',
  'net/bridge/bridge-nf-call-iptables',
  'net/bridge/bridge-nf-call-ip6tables',
];

/** What the kernel of this machine has, whether a proxy runs or not. */
export function partsFromMachine(): readonly Part[] {
  return [
    { file: 'versions.txt', about: 'versions of Pointsman, the kernel and programs', collect: versionsText },
    { file: 'kernel/sysctls.txt', about: 'settings of the kernel, and how many flows it tracks', collect: sysctlsText },
    ...LISTINGS.map(([file, about, command, module]) => ({
      file: `kernel/${file}`,
      about: `${about}: ${command}`,
      collect: () => listing(command, module),
    })),
  ];
}

async function listing(command: string, module: KernelModule | undefined): Promise<string> {
  if (module !== undefined && !isModuleLoaded(module)) {
    throw new Error(`the kernel module ${module} is not loaded, so there is nothing to list`);
  }
  return await outputOf(command);
}

async function outputOf(command: string): Promise<string> {
  const [name = '', ...args] = command.split(' ');
  const { stdout } = await runProgram(name, args, { timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_PART_LENGTH });
  return stdout;
}

async function versionsText(): Promise<string> {
  const lines = [
    `Pointsman ${VERSION}, as kube-proxy of Kubernetes ${KUBERNETES_VERSION}`,
    `Node ${process.version}`,
    `Linux ${release()} ${version()} ${process.arch}`,
  ];
  for (const command of PROGRAMS) lines.push(await outputOf(command).then(text => text.trim(), errorText));
  return lines.map(line => `${line}\n`).join('');
}

async function sysctlsText(): Promise<string> {
  return SYSCTLS.map(name => `${name} = ${sysctlText(name)}\n`).join('');
}

function sysctlText(name: string): string {
  try {
    return readSysctl(name);
  } catch (error) {
    return `(${errorText(error)})`;
  }
}
