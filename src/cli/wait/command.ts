import { stringify } from 'yaml';
import { PROGRAMMED_NAMESPACE } from '../../api/index.ts';
import { type ConfiguredApiClient, createApiClient } from '../../client/index.ts';
import { defaultConfiguration } from '../../config/index.ts';
import { toMilliseconds } from '../../lib/duration.ts';
import { parseNamePattern } from '../../lib/name-pattern.ts';
import { printableLines } from '../../lib/printable.ts';
import { defineCommand, type Io, oneOf, print } from '../command.ts';
import { jsonDocument } from '../document-stream.ts';
import { bool, duration, FlagError, type FlagValues, type ParsedFlags, string } from '../flags/index.ts';
import { proxySocket, SOCKET_FLAG } from '../proxy-socket.ts';
import { COLOR_FLAG, colorFlag, styleFor } from '../style.ts';
import { ApiReader } from './api-reader.ts';
import { waitOnAllNodes } from './on-all-nodes.ts';
import { waitOnNode } from './on-node.ts';
import { progressText, type WaitEnd, type WaitReport, waitReport, waitText } from './report.ts';
import { readTarget } from './target.ts';

const FORMS = ['text', 'json', 'yaml'] as const;
const STATES = ['programmed'] as const;

const FLAGS = {
  for: { type: string, default: 'programmed', word: 'STATE', usage: 'programmed: the kernel has it', words: STATES },
  timeout: { type: duration, default: 30_000_000_000n, word: 'DURATION', usage: 'how long to wait, such as 2m' },
  'all-nodes': {
    type: bool,
    default: false,
    usage: 'wait for all ready nodes, whose proxies run with --report-programmed',
  },
  kubeconfig: {
    type: string,
    default: '',
    word: 'FILE',
    usage: 'read the Service and its EndpointSlices at this API server (default with --all-nodes: that of the pod)',
  },
  context: {
    type: string,
    default: '',
    word: 'NAME',
    usage: 'context of the kubeconfig file (default: its current context)',
  },
  'node-selector': {
    type: string,
    default: '',
    word: 'LABELS',
    usage: 'with --all-nodes, only nodes with these labels',
  },
  'lease-namespace': {
    type: string,
    default: PROGRAMMED_NAMESPACE,
    word: 'NAME',
    usage: 'with --all-nodes, namespace of the Leases',
  },
  output: { type: string, default: 'text', shorthand: 'o', word: 'FORM', usage: 'text, json or yaml', words: FORMS },
  ...SOCKET_FLAG,
  ...COLOR_FLAG,
};

const EXIT_STATUS = { programmed: 0, timeout: 1, 'set-aside': 1 };
/** The last requests may take this much longer than the wait. */
const GRACE_MS = 10_000;
/** The rate of kubectl. With the rate of a proxy, the pages of a large cluster would take long. */
const RATE = { qps: 50, burst: 300 };

export const waitCommand = defineCommand({
  name: 'wait',
  summary: 'wait until a Service is in the kernel, on this node or on all nodes',
  about: `Waits until a Service and its EndpointSlices, as they are when the command starts, are in the kernel. New
connections then get what the Service says. SERVICE is NAMESPACE/NAME, or NAME in the namespace default.

On a node, the command asks the proxy through its socket, for which it must run as root. It waits for everything that
the proxy has received. With --kubeconfig it waits for what the API server has, which the proxy may not have received.

With --all-nodes, it reads the Leases of all ready nodes, which proxies write with --report-programmed. It needs the
rights to get the Service, to list EndpointSlices and Nodes, and to list and watch Leases.

Exit status: 0 if the Service is programmed, 1 if the time is over or a node could not program the Service, and 2 if
the command could not ask, or the command line is wrong.`,
  usage: 'wait SERVICE [flags]',
  examples: [
    { meaning: 'On a node', command: 'kube-proxy wait shop/cart' },
    {
      meaning: 'On all nodes, from any machine',
      command: 'kube-proxy wait shop/cart --all-nodes --kubeconfig FILE --timeout 1m',
    },
  ],
  flags: FLAGS,
  argument: 'SERVICE',
  errorStatus: 2,
  async run(parsed, io) {
    const { values } = parsed;
    const service = checkedService(parsed);
    const form = oneOf(FORMS, values.output, '"-o, --output" flag');
    const report = waitReport(await waitFor(service, values, io));
    return print(io, rendered(report, form, io, values), EXIT_STATUS[report.outcome]);
  },
});

/** Throws a FlagError. */
function checkedService({ values, changed, positional: [given = ''] }: ParsedFlags<typeof FLAGS>): string {
  const { text, isExact } = parseNamePattern(given);
  if (given === '' || !isExact) throw new FlagError('"kube-proxy wait" needs the name of one SERVICE');
  oneOf(STATES, values.for, '"--for" flag');
  if (values.timeout <= 0n) throw new FlagError('invalid argument for "--timeout" flag: must be longer than 0s');
  const forAll = (['node-selector', 'lease-namespace'] as const).find(name => changed.has(name));
  if (!values['all-nodes'] && forAll !== undefined) throw new FlagError(`--${forAll} also needs --all-nodes`);
  if (changed.has('context') && values.kubeconfig === '') throw new FlagError('--context also needs --kubeconfig');
  if (values['all-nodes'] && changed.has('inspect-socket'))
    throw new FlagError('--inspect-socket is for a wait on one node, so not with --all-nodes');
  return text;
}

async function waitFor(service: string, values: FlagValues<typeof FLAGS>, io: Io): Promise<WaitEnd> {
  const start = performance.now();
  const timeoutMs = toMilliseconds(values.timeout);
  const timeUp = AbortSignal.timeout(timeoutMs);
  const client = values['all-nodes'] || values.kubeconfig !== '' ? openClient(values) : undefined;
  try {
    const reader = client && new ApiReader(client, AbortSignal.timeout(timeoutMs + GRACE_MS));
    const target = reader && (await readTarget(reader, service));
    const common = { service, target };
    const took = () => performance.now() - start;
    if (!reader || !target || !values['all-nodes']) {
      const missing = await waitOnNode({ ...common, socket: proxySocket(values), timeUp });
      return { ...common, nodeCount: 1, missing: missing ? [missing] : [], milliseconds: took() };
    }
    const { 'lease-namespace': namespace, 'node-selector': nodeSelector } = values;
    const onProgress = (count: number, missing: readonly string[]) =>
      io.stderr.write(progressText(service, count, missing));
    const end = await waitOnAllNodes({ reader, target, namespace, nodeSelector, timeUp, onProgress });
    return { ...common, ...end, milliseconds: took() };
  } finally {
    client?.close();
  }
}

function openClient({ kubeconfig, context }: FlagValues<typeof FLAGS>): ConfiguredApiClient {
  const { clientConnection } = defaultConfiguration();
  return createApiClient({ kubeconfig, context, clientConnection: { ...clientConnection, ...RATE } });
}

function rendered(report: WaitReport, form: (typeof FORMS)[number], io: Io, values: FlagValues<typeof FLAGS>): string {
  switch (form) {
    case 'text':
      return waitText(report, styleFor(io.stdout, io.env, colorFlag(values)));
    case 'json':
      return jsonDocument(report);
    case 'yaml':
      return printableLines(stringify(report));
  }
}
