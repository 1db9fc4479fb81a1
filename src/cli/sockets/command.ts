import { stringify } from 'yaml';
import {
  ProxyClientError,
  SOCKET_COUNTS_SCHEMA,
  SOCKETS_SCHEMA,
  type SocketCounts,
  type SocketRow,
} from '../../inspect/index.ts';
import { isRecord } from '../../lib/is-record.ts';
import { printable } from '../../lib/printable.ts';
import { defineCommand, type Io, oneOf } from '../command.ts';
import { documentStream, jsonDocument, printableTexts, YAML_OPTIONS } from '../document-stream.ts';
import { bool, string } from '../flags/index.ts';
import { type ProxySocket, proxySocket, SOCKET_FLAG } from '../proxy-socket.ts';
import { openProxyStream, type ProxyStream } from '../proxy-stream.ts';
import { COLOR_FLAG, colorFlag, type Style, styleFor } from '../style.ts';
import { countsTable, socketsTable } from './table.ts';

const FORMS = ['text', 'wide', 'json', 'yaml'] as const;

type Form = (typeof FORMS)[number];

const FLAGS = {
  summary: { type: bool, default: false, usage: 'count the sockets by Service and endpoint, with the callers' },
  output: {
    type: string,
    default: 'text',
    shorthand: 'o',
    word: 'FORM',
    usage: 'text, wide, json or yaml',
    words: FORMS,
  },
  ...SOCKET_FLAG,
  ...COLOR_FLAG,
};

export const socketsCommand = defineCommand({
  name: 'sockets',
  summary: 'list who is connected to which endpoint now (ebpf mode)',
  about: `Lists the TCP sockets of this node that the proxy led to endpoints: of all pods and of the node's own processes,
at this moment. Only ebpf mode can do so, because it leads sockets and not packets. In other modes, conntrack -L shows
connections.

The caller is a pod, "node" for processes in the network of the node, or an address: the proxy knows only pods that are
endpoints of a Service. "(gone)" marks an endpoint that no EndpointSlice has any more, and "(not used)" one that gets no
new connections. Connections to such endpoints go on until one side closes them.

GLOB is NAMESPACE/NAME, NAME in the namespace default, or a pattern with * and ?. A pattern without a slash
matches names in all namespaces.

Exit status: 0. It is 1 if the proxy cannot list sockets, or not all of them. It is 2 if no proxy answers, if there is no
Service of this name, or if the command line is wrong.`,
  usage: 'sockets [GLOB] [flags]',
  examples: [
    { meaning: 'All sockets', command: 'kube-proxy sockets' },
    { meaning: 'Who is connected to a Service, with all addresses', command: 'kube-proxy sockets shop/cart -o wide' },
    {
      meaning: 'How many sockets each endpoint has, such as during a rollout',
      command: 'kube-proxy sockets --summary',
    },
  ],
  flags: FLAGS,
  argument: 'GLOB',
  errorStatus: 2,
  async run({ values, positional: [name = ''] }, io) {
    const form = oneOf(FORMS, values.output, '"-o, --output" flag');
    const query = new URLSearchParams(name === '' ? {} : { service: name });
    const options = { form, name, style: styleFor(io.stdout, io.env, colorFlag(values)), io };
    const proxy = proxySocket(values);
    if (values.summary) return printCounts(await askCounts(proxy, query), options);
    const lines = proxy.lines(`/v1/sockets?${query}`);
    return await printSockets(await openProxyStream<SocketRow>(lines, SOCKETS_SCHEMA), options);
  },
});

export interface PrintOptions {
  readonly form: Form;
  /** The GLOB, for the text if there is no socket. */
  readonly name: string;
  readonly style: Style;
  readonly io: Pick<Io, 'stdout' | 'stderr'>;
}

/** Prints the sockets. Returns the exit status. */
export async function printSockets({ head, rows }: ProxyStream<SocketRow>, options: PrintOptions): Promise<number> {
  const { form, style, io } = options;
  if (form === 'json' || form === 'yaml') {
    const document = documentStream(form, head, 'sockets', text => io.stdout.write(text));
    for await (const row of rows) document.add(row);
    document.end();
  } else {
    const all: SocketRow[] = [];
    for await (const row of rows) all.push(row);
    io.stdout.write(socketsTable(all, { isWide: form === 'wide', style, width: widthOf(io) }));
    if (all.length === 0 && head.note === undefined) io.stderr.write(nothingText(options.name));
  }
  return statusOf(head, io);
}

/** Prints the counts. Returns the exit status. */
export function printCounts(counts: SocketCounts & { readonly schema: string }, options: PrintOptions): number {
  const { form, style, io, name } = options;
  if (form === 'json') io.stdout.write(jsonDocument(counts));
  else if (form === 'yaml') io.stdout.write(stringify(printableTexts(counts), YAML_OPTIONS));
  else {
    const { endpoints, endpointCount, sockets, note } = counts;
    io.stdout.write(countsTable(endpoints, { isWide: form === 'wide', style, width: widthOf(io) }));
    if (endpointCount > endpoints.length) {
      io.stderr.write(`These are the ${endpoints.length} of ${endpointCount} endpoints with the most sockets.\n`);
    }
    if (sockets === 0 && note === undefined) io.stderr.write(nothingText(name));
  }
  return statusOf({ ...counts }, io);
}

async function askCounts(proxy: ProxySocket, query: URLSearchParams) {
  const answer = await proxy.ask(`/v1/socket-counts?${query}`);
  if (isRecord(answer) && answer.schema === SOCKET_COUNTS_SCHEMA) {
    return answer as unknown as SocketCounts & { readonly schema: string };
  }
  throw new ProxyClientError('broken', `the proxy answers with another schema than ${SOCKET_COUNTS_SCHEMA}`);
}

/** The note says why there are no sockets, or not all. */
function statusOf({ note }: Readonly<Record<string, unknown>>, { stderr }: PrintOptions['io']): number {
  if (note === undefined) return 0;
  const text = String(note);
  stderr.write(`${printable(text.charAt(0).toUpperCase() + text.slice(1))}.\n`);
  return 1;
}

function widthOf({ stdout }: PrintOptions['io']): number | undefined {
  return stdout.isTTY ? stdout.columns : undefined;
}

function nothingText(name: string): string {
  return `No socket is connected to ${name === '' ? 'a Service' : `a Service that matches ${JSON.stringify(name)}`}.\n`;
}
