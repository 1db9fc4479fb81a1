import { hostname } from 'node:os';
import { stringify } from 'yaml';
import {
  appendPortIfNeeded,
  applyPlatformDefaults,
  HEALTHZ_PORT,
  loadConfiguration,
  METRICS_PORT,
} from '../../config/index.ts';
import { ProxyClientError } from '../../inspect/index.ts';
import { errorText } from '../../lib/error-text.ts';
import { printableLines } from '../../lib/printable.ts';
import { defineCommand, oneOf, print } from '../command.ts';
import { jsonDocument } from '../document-stream.ts';
import { type FlagValues, ipPort, type ParsedFlags, string } from '../flags/index.ts';
import { readConfigFile } from '../kube-proxy/options.ts';
import { proxySocket, SOCKET_FLAG } from '../proxy-socket.ts';
import { COLOR_FLAG, colorFlag, type Style, styleFor } from '../style.ts';
import { reachableAddress } from './ask.ts';
import { STATUS_REPORT_SCHEMA, type StatusReport } from './report.ts';
import { reportFromServers, type StatusAddresses } from './report-from-servers.ts';
import { reportFromSocket } from './report-from-socket.ts';
import { statusText } from './text.ts';

const FORMS = ['text', 'json', 'yaml'] as const;

const FLAGS = {
  ...SOCKET_FLAG,
  config: {
    type: string,
    default: '',
    word: 'FILE',
    usage: 'configuration file of the proxy, which has the addresses of its servers',
  },
  'healthz-bind-address': {
    type: ipPort,
    default: '',
    word: 'ADDRESS',
    usage: 'address of the health server (default: that of the file, or 0.0.0.0:10256)',
  },
  'metrics-bind-address': {
    type: ipPort,
    default: '',
    word: 'ADDRESS',
    usage: 'address of the metrics server (default: that of the file, or 127.0.0.1:10249)',
  },
  output: { type: string, default: 'text', shorthand: 'o', word: 'FORM', usage: 'text, json or yaml', words: FORMS },
  ...COLOR_FLAG,
};

const SERVER_FLAGS = ['config', 'healthz-bind-address', 'metrics-bind-address'] as const;

const EXIT_STATUS = { healthy: 0, unhealthy: 1, unknown: 2 };

export const statusCommand = defineCommand({
  name: 'status',
  summary: 'ask the proxy of this node whether all is well',
  about: `Asks the proxy of this node whether all is well. Prints version, mode, the last syncs, service ports that are set
aside, the last repair of drift, memory, watches, and every check of /readyz with its reason.

The command asks through the socket of the proxy, for which it must run as root. Without a socket, or if a flag or a
configuration file names the addresses of the health and metrics servers, it asks these servers, which know less.

Exit status: 0 if the proxy is healthy, 1 if it is not, and 2 if no proxy answers or the command line is wrong.`,
  usage: 'status [flags]',
  examples: [
    { meaning: 'On a node', command: 'kube-proxy status' },
    { meaning: 'In a cluster', command: 'kubectl -n kube-system exec POD -- kube-proxy status' },
    { meaning: 'With the addresses of a configuration file', command: 'kube-proxy status --config FILE' },
  ],
  flags: FLAGS,
  errorStatus: EXIT_STATUS.unknown,
  async run(parsed, io) {
    const { values } = parsed;
    const form = oneOf(FORMS, values.output, '"-o, --output" flag');
    const style = styleFor(io.stdout, io.env, colorFlag(values));
    const report = await reportOf(parsed);
    return print(io, rendered(report, form, style), EXIT_STATUS[report.verdict]);
  },
});

function rendered(report: StatusReport, form: (typeof FORMS)[number], style: Style): string {
  switch (form) {
    case 'text':
      return statusText(report, style);
    case 'json':
      return jsonDocument(report);
    case 'yaml':
      return printableLines(stringify(report));
  }
}

/** The socket knows most. If the operator names the socket, or the servers, only these are asked. */
async function reportOf({ values, changed }: ParsedFlags<typeof FLAGS>): Promise<StatusReport> {
  const namesServers = SERVER_FLAGS.some(name => changed.has(name));
  if (namesServers && !changed.has('inspect-socket')) return await reportFromServers(addressesOf(values));
  const socket = proxySocket(values);
  try {
    return await reportFromSocket(socket);
  } catch (error) {
    const address = socket.path;
    if (changed.has('inspect-socket')) return unknownReport({ socket: { address, reason: errorText(error) } });
    const report = await reportFromServers(addressesOf(values));
    const reason = error instanceof ProxyClientError ? error.reason : errorText(error);
    return { ...report, servers: { socket: { address, reason }, ...report.servers } };
  }
}

function unknownReport(servers: StatusReport['servers']): StatusReport {
  return { schema: STATUS_REPORT_SCHEMA, verdict: 'unknown', node: hostname(), families: [], checks: [], servers };
}

/** The flags override the file. */
function addressesOf(values: FlagValues<typeof FLAGS>): StatusAddresses {
  const file = values.config === '' ? undefined : configurationOf(values.config);
  const health = values['healthz-bind-address'] || file?.healthzBindAddress || '0.0.0.0';
  const metrics = values['metrics-bind-address'] || file?.metricsBindAddress || '127.0.0.1';
  return {
    health: reachableAddress(appendPortIfNeeded(health, HEALTHZ_PORT)),
    metrics: reachableAddress(appendPortIfNeeded(metrics, METRICS_PORT)),
  };
}

function configurationOf(path: string) {
  return applyPlatformDefaults(loadConfiguration(readConfigFile(path)).configuration);
}
