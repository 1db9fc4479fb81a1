import { SECOND, toMilliseconds } from '../../lib/duration.ts';
import { printable } from '../../lib/printable.ts';
import {
  type FindService,
  legacyNotice,
  type NamedSelection,
  packetLine,
  parseSelection,
  runTrace,
  SelectionError,
  TRACE_SCHEMA,
  type TraceCounts,
  type TracedPacket,
} from '../../trace/index.ts';
import { defineCommand, type Io, oneOf } from '../command.ts';
import { jsonText } from '../document-stream.ts';
import { duration, FlagError, type FlagValues, int32, string } from '../flags/index.ts';
import { proxySocket, SOCKET_FLAG } from '../proxy-socket.ts';
import { COLOR_FLAG, colorFlag, styleFor } from '../style.ts';
import { withSignals } from '../with-signals.ts';
import { serviceFromManifests, serviceFromProxy } from './known-service.ts';
import { packetText } from './packet-text.ts';

const FORMS = ['text', 'json'] as const;

const FLAGS = {
  from: {
    type: string,
    default: '',
    word: 'IP|CIDR|node',
    usage: 'only packets from here; node is this machine itself',
  },
  to: {
    type: string,
    default: '',
    word: 'DESTINATION',
    usage: 'only packets to here: NAMESPACE/NAME[:PORT] of a Service, IP[:PORT][/udp], a CIDR, or node:PORT',
  },
  for: {
    type: duration,
    default: 10n * SECOND,
    word: 'TIME',
    usage: 'how long to wait for packets; 0 waits until Ctrl-C',
  },
  packets: { type: int32, default: 10, word: 'N', usage: 'end after this many packets' },
  manifests: {
    type: string,
    default: '',
    word: 'DIR',
    usage: 'look Services up in manifests, and not in the running proxy',
  },
  output: { type: string, default: 'text', shorthand: 'o', word: 'FORM', usage: 'text or json', words: FORMS },
  ...SOCKET_FLAG,
  ...COLOR_FLAG,
};

const EXIT_STATUS = { seen: 0, none: 1, error: 2 };

export const traceCommand = defineCommand({
  name: 'trace',
  summary: 'follow real packets through the rules of this node',
  about: `Follows real packets through the rules of this node, and prints the way of each: every chain and rule of
every table, with the Service that the rule belongs to, what happens to the packet's addresses, and where it ends. Start
the connection while the trace runs.

It sees rules of nf_tables: those of nftables mode, and those that iptables-nft made, in every mode. It changes no rule.
It marks packets in a table of its own, which the kernel deletes with the process, even after kill -9. It needs root and
Linux 5.12.

Exit status: 0 if the command saw packets, 1 if it saw none, and 2 if the trace failed or the command line is wrong.`,
  usage: 'trace [--from IP|CIDR|node] [--to DESTINATION] [flags]',
  examples: [
    {
      meaning: 'Everything that a pod sends to a Service',
      command: 'kube-proxy trace --from 10.244.1.7 --to shop/web',
    },
    {
      meaning: 'The next connection to an address',
      command: 'kube-proxy trace --to 10.96.0.10:80 --packets 1 --for 60s',
    },
    {
      meaning: 'Queries of this node to the cluster DNS',
      command: 'kube-proxy trace --from node --to kube-system/kube-dns:53/udp',
    },
  ],
  flags: FLAGS,
  errorStatus: EXIT_STATUS.error,
  async run({ values }, io) {
    const form = oneOf(FORMS, values.output, '"-o, --output" flag');
    if (values.packets < 1) throw new FlagError('invalid argument for "--packets" flag: must be at least 1');
    if (values.for < 0n) throw new FlagError('invalid argument for "--for" flag: must not be negative');
    const findService =
      values.manifests === '' ? serviceFromProxy(proxySocket(values)) : serviceFromManifests(values.manifests);
    const named = await selectionFromFlags(values, findService);
    const notice = await legacyNotice();
    if (notice !== undefined) io.stderr.write(`${notice}\n\n`);
    const counts = await withSignals(signal => follow(named, values, form, io, signal));
    io.stdout.write(form === 'json' ? jsonLine({ kind: 'end', ...counts }) : endText(counts, named));
    return counts.packets > 0 ? EXIT_STATUS.seen : EXIT_STATUS.none;
  },
});

async function selectionFromFlags(
  { from, to }: FlagValues<typeof FLAGS>,
  findService: FindService,
): Promise<NamedSelection> {
  if (from === '' && to === '') {
    throw new FlagError('give --from, --to or both: without them, the trace would follow every packet of the node');
  }
  try {
    return await parseSelection(from, to, findService);
  } catch (error) {
    throw error instanceof SelectionError ? new FlagError(error.message) : error;
  }
}

function follow(
  { selection, name }: NamedSelection,
  values: FlagValues<typeof FLAGS>,
  form: (typeof FORMS)[number],
  io: Io,
  signal: AbortSignal,
): Promise<TraceCounts> {
  const style = styleFor(io.stdout, io.env, colorFlag(values));
  const forMs = toMilliseconds(values.for);
  const limit = forMs === 0 ? 'until Ctrl-C' : `for ${forMs / 1000} s`;
  const printed = (packet: TracedPacket, number: number) =>
    form === 'json' ? jsonLine(packetLine(packet, number)) : `${packetText(packet, number, style)}\n`;
  return runTrace({
    selection,
    forMs,
    packets: values.packets,
    signal,
    started: () => {
      const text = `Following packets ${name} ${limit}, at most ${values.packets}. Start the connection now.`;
      if (form === 'text') io.stdout.write(`${printable(text)}\n\n`);
    },
    traced: (packet, number) => void io.stdout.write(printed(packet, number)),
  });
}

function jsonLine(value: object): string {
  return `${jsonText({ schema: TRACE_SCHEMA, ...value })}\n`;
}

function endText({ packets, overruns }: TraceCounts, { name, selection }: NamedSelection): string {
  const dropped =
    overruns === 0
      ? ''
      : `The kernel dropped trace messages ${overruns} times, so packets may be missing or look lost.\n`;
  if (packets > 0) return `${dropped}${packets} ${packets === 1 ? 'packet' : 'packets'} followed.\n`;
  const elsewhere =
    selection.source === 'node'
      ? 'Does this node send it? Only programs in the network namespace of the node count, and no pods of their own network.'
      : 'Does it come in here? Packets of a pod come in at the node of the pod. Run the trace there.';
  return `${dropped}No packet ${name} was seen.
- Was there traffic? Start the connection while the trace runs.
- ${elsewhere}
- Is the mode ebpf? Then TCP sockets of this node and its pods send straight to an endpoint. Follow the endpoint:
  kube-proxy trace --to IP:PORT, with an address that kube-proxy sockets -o wide or kube-proxy explain shows.
- Does something take it earlier? eBPF programs, tc and flowtables act before the rules of nf_tables.
- Is the address right? kube-proxy services shows the addresses of all Services.
`;
}
