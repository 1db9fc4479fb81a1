import { textAnswer } from '../observe/http/index.ts';
import { linesAnswer, objectAnswer } from './answers.ts';
import type { Route } from './route.ts';

export interface ConfigurationAnswer {
  /** In upstream's file format. */
  readonly configuration: unknown;
  /** The path of the configuration file. Empty if the configuration comes from flags. */
  readonly file: string;
  readonly flags: Readonly<Record<string, string>>;
}

const CONFIGURATION_SCHEMA = 'pointsman.configuration/v1';
const LOG_SCHEMA = 'pointsman.log/v1';

export function configurationRoute(read: () => ConfigurationAnswer): Route {
  return {
    path: '/v1/configuration',
    about: 'the configuration that the proxy uses, and its flags',
    answer: () => objectAnswer(CONFIGURATION_SCHEMA, read()),
  };
}

export function logRoute(recentLines: () => readonly string[]): Route {
  return {
    path: '/v1/log',
    about: 'the last lines of the log, one JSON object a line',
    answer: () => linesAnswer(LOG_SCHEMA, logRows(recentLines())),
  };
}

function* logRows(lines: readonly string[]): Iterable<object> {
  for (const line of lines) yield { line };
}

export function metricsRoute(metrics: () => Promise<string>): Route {
  return {
    path: '/v1/metrics',
    about: 'all metrics in the text format of Prometheus',
    readsKernel: true,
    answer: async () => textAnswer(200, await metrics()),
  };
}
