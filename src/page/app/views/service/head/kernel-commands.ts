import type { KernelDetail, PortKernelDetail } from '../../../../../inspect/index.ts';
import { shellQuote } from '../../../parts/shell-quote.ts';
import type { Entry } from '../kernel/compare.ts';
import type { CopyCommand } from './copy-commands.ts';

/** More elements than this of one map or set are listed with the whole map. */
const MAX_ELEMENTS = 64;

/** The commands that list what the kernel has for the Service. They follow from the places of its entries. */
export function kernelCommands({ ports }: KernelDetail, key: string): CopyCommand | undefined {
  const lines = new Set(ports.flatMap(port => [...elementLines(port), ...otherLines(port, key)]));
  if (lines.size === 0) return undefined;
  const [program = 'nft'] = [...lines][0]?.split(' ') ?? [];
  return { name: program, about: 'The entries of the kernel for it, on the node', text: [...lines].join('\n') };
}

/** `map ip kube-proxy service-ips` */
const NFT_SET = /^(map|set) (ip6?) (\S+) (\S+)$/;
const NFT_CHAIN = /^chain (ip6?) (\S+) (\S+)$/;
const IPTABLES_CHAIN = /^chain (\S+) (\S+)$/;
const IP_SET = /^set (\S+)$/;
/** `-A -t 10.96.0.10:80 -s rr` */
const VIRTUAL_SERVER = /^-A (-[tuf]|--sctp-service) (\S+)/;

function elementLines({ entries }: PortKernelDetail): readonly string[] {
  const keys = new Map<string, string[]>();
  for (const entry of entries) {
    if (entry.kind !== 'element' || !NFT_SET.test(entry.place)) continue;
    keys.set(entry.place, [...(keys.get(entry.place) ?? []), elementKey(entry)]);
  }
  return [...keys].map(([place, list]) => {
    const [, kind = '', family = '', table = '', name = ''] = NFT_SET.exec(place) ?? [];
    const where = [family, table, name].map(shellQuote).join(' ');
    if (list.length > MAX_ELEMENTS) return `nft list ${kind} ${where}`;
    return `nft get element ${where} ${shellQuote(`{ ${list.join(', ')} }`)}`;
  });
}

/** The key without what follows it: a comment, a counter, a time or the value of a map. */
function elementKey({ wanted, found }: Entry): string {
  return (wanted ?? found ?? '').split(/ (?:comment|counter|timeout|expires) | : /, 1)[0] ?? '';
}

/** Chains that all Services share are left out. */
function otherLines({ entries, family }: PortKernelDetail, key: string): readonly string[] {
  const iptables = `ip${family === 'IPv6' ? '6' : ''}tables`;
  return entries.flatMap(({ kind, place, wanted, found }) => {
    const [, nftFamily = '', nftTable = '', nftChain] = NFT_CHAIN.exec(place) ?? [];
    if (nftChain !== undefined) {
      return nftChain.includes(key)
        ? [`nft list chain ${[nftFamily, nftTable, nftChain].map(shellQuote).join(' ')}`]
        : [];
    }
    const [, table = '', chain] = IPTABLES_CHAIN.exec(place) ?? [];
    if (chain !== undefined && isOwnChain(chain))
      return [`${iptables} -t ${shellQuote(table)} -S ${shellQuote(chain)}`];
    const [, flag = '', server] = VIRTUAL_SERVER.exec(kind === 'virtual server' ? (wanted ?? found ?? '') : '') ?? [];
    if (server !== undefined) return [`ipvsadm -L -n ${flag} ${shellQuote(server)}`];
    const [, set] = IP_SET.exec(place) ?? [];
    return set === undefined ? [] : [`ipset list ${shellQuote(set)}`];
  });
}

/** `KUBE-SVC-…` and its relatives belong to one service port. */
function isOwnChain(chain: string): boolean {
  return /^KUBE-(SVC|SVL|EXT|FW|SEP)-/.test(chain);
}
