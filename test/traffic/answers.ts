import { constants } from 'node:os';
import type { ProbeResult } from '../../src/demo/playground/index.ts';
import { joinHostPort } from '../../src/net/index.ts';
import type { Question, Source } from './matrix.ts';

/** The name of each address that an endpoint may see as its caller. Other addresses have no name. */
const CALLERS: Readonly<Record<string, string>> = {
  '127.0.0.1': 'node',
  '192.168.0.2': 'node',
  'fd00:192:168::2': 'node',
  '10.244.1.1': 'node',
  'fd00:10:244:1::1': 'node',
  '192.168.0.100': 'ext',
  '192.168.0.3': 'other-node',
  'fd00:192:168::3': 'other-node',
  '10.244.1.200': 'pod',
  'fd00:10:244:1::200': 'pod',
};

/** The endpoints that answered, and how they saw their caller: `10.244.1.2:8080 10.244.2.3:8080 as node`. */
export function describeAnswers(
  { service, source }: Question<Source>,
  { answers, failures }: ProbeResult,
  scheduler = '',
): string {
  const failed = sorted([...failures].map(failureName)).join(',');
  if (answers.size === 0) return failed;
  const parts = [...answers.keys()].map(answer => answer.split(' '));
  const endpoints = sorted(parts.map(([ip = '', port = '']) => joinHostPort(ip, port)));
  const callers = sorted(parts.map(([, , caller = '']) => CALLERS[caller] ?? caller)).join(',');
  if (service.spec.sessionAffinity !== 'ClientIP' && scheduler !== 'sh') {
    return `${endpoints.join(' ')} as ${callers}${failed && ` (+${failed})`}`;
  }
  // Chance decides which endpoint answers, and whether an endpoint reaches itself. But it must stay the same endpoint.
  const answering = endpoints.length === 1 ? 'always the same endpoint' : `DIFFERENT ENDPOINTS ${endpoints.join(' ')}`;
  return source.isEndpoint ? answering : `${answering} as ${callers}`;
}

function failureName(failure: string): string {
  const numbers: Readonly<Record<string, number>> = constants.errno;
  const number = numbers[failure];
  return number === undefined ? failure : `errno ${number}`;
}

function sorted(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}
