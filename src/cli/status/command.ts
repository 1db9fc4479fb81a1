import {
  appendPortIfNeeded,
  applyPlatformDefaults,
  HEALTHZ_PORT,
  loadConfiguration,
  METRICS_PORT,
} from '../../config/index.ts';
import { printableJson } from '../../lib/printable.ts';
import { defineCommand, oneOf, print } from '../command.ts';
import { type FlagValues, ipPort, string } from '../flags/index.ts';
import { readConfigFile } from '../kube-proxy/options.ts';
import { COLOR_FLAG, colorFlag, styleFor } from '../style.ts';
import { reachableAddress } from './ask.ts';
import { type StatusAddresses, statusReport } from './report.ts';
import { statusText } from './text.ts';

const FORMS = ['text', 'json'] as const;

const FLAGS = {
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
  output: { type: string, default: 'text', shorthand: 'o', word: 'FORM', usage: 'text or json', words: FORMS },
  ...COLOR_FLAG,
};

const EXIT_STATUS = { healthy: 0, unhealthy: 1, unknown: 2 };

export const statusCommand = defineCommand({
  name: 'status',
  summary: 'ask the proxy of this node whether all is well',
  about: `Asks the proxy of this node, through its health and metrics servers, whether all is well. Prints version, mode, the
last sync of each IP family, service ports that are set aside, repairs of drift, and problems.

Exit status: 0 if the proxy is healthy, 1 if it is not, and 2 if no proxy answers or the command line is wrong.`,
  usage: 'status [flags]',
  examples: [
    { meaning: 'On a node', command: 'kube-proxy status' },
    { meaning: 'In a cluster', command: 'kubectl -n kube-system exec POD -- kube-proxy status' },
    { meaning: 'With the addresses of a configuration file', command: 'kube-proxy status --config FILE' },
  ],
  flags: FLAGS,
  errorStatus: EXIT_STATUS.unknown,
  async run({ values }, io) {
    const form = oneOf(FORMS, values.output, '"-o, --output" flag');
    const style = styleFor(io.stdout, io.env, colorFlag(values));
    const report = await statusReport(addressesOf(values));
    const text =
      form === 'json'
        ? `${JSON.stringify(report, undefined, 2)}\n`.replaceAll(/.+/g, printableJson)
        : statusText(report, style);
    return print(io, text, EXIT_STATUS[report.verdict]);
  },
});

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
