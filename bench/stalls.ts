// Measures how many connections of node processes wait a whole second because an endpoint does not take their first SYN:
// the endpoint closes first and still has the masqueraded source port in TIME_WAIT. Compares random source ports, ports that
// are kept (--keep-node-source-ports), and ebpf mode, which does not masquerade these connections. One Service, and two
// Services with the same endpoint. The ratios are those of one run. Works in its own network namespaces. Needs root.
//   --modes LIST   the modes (nftables,iptables,ebpf)
//   --seconds N    how long each way takes (5)
import { parseArgs } from 'node:util';
import { playLoad } from './support/datapath.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { type Row, report, reportMachine, rounded } from './support/report.ts';
import { measureStalls, PORTS, type Stalls, type StallWay } from './support/stall-load.ts';

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    modes: { type: 'string', default: 'nftables,iptables,ebpf' },
    seconds: { type: 'string', default: '5' },
  },
});

/** How many Services lead to the endpoint. The callers share them. */
const SERVICES = [1, 2];

async function main(): Promise<void> {
  reportMachine();
  for (const services of SERVICES) {
    const all: Stalls[] = [];
    for (const mode of flags.modes.split(',')) {
      for (const ports of mode === 'ebpf' ? PORTS.slice(0, 1) : PORTS) {
        all.push(await measureStalls({ mode, ports, services, ms: Number(flags.seconds) * 1000 }));
      }
    }
    const rows = all.map(each => row(each, all.find(({ way }) => isRandom(way, each.way.mode)) ?? each));
    report(rows, services === 1 ? 'one Service' : `${services} Services with the same endpoint`);
  }
}

/** Masqueraded with random source ports, in the same mode. The network of ebpf mode is that of nftables mode. */
function isRandom({ mode, ports }: StallWay, of: string): boolean {
  return ports === 'random' && mode === (of === 'ebpf' ? 'nftables' : of);
}

function row({ way, connections, retries, refused, slow, waiting, p50, p99 }: Stalls, random: Stalls): Row {
  return {
    mode: way.mode,
    'source ports': way.mode === 'ebpf' ? "the client's own" : way.ports,
    connections,
    'of random': rounded(connections / random.connections),
    'SYNs sent again': retries,
    'of 1000': rounded((retries * 1000) / connections),
    PAWSTimewait: refused,
    'over 0.5 s': slow,
    'in TIME_WAIT': waiting,
    'p50 µs': Math.round(p50),
    'p99 ms': rounded(p99 / 1000),
  };
}

if (flags.role === 'load') playLoad();
else await main();
