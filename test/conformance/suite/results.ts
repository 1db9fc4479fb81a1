export type State = 'pass' | 'fail' | 'skip';

export interface Result {
  readonly state: State;
  readonly seconds: number;
  /** The first line of why a test failed or was skipped. */
  readonly reason: string;
}

export type Results = ReadonlyMap<string, Result>;

const TEST_CASE = /<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g;
const ATTRIBUTE = /([\w-]+)="([^"]*)"/g;
const REASON = /<(?:skipped|failure|error)\b([^>]*)/;
const PREFIX = '[It] ';
const MAX_REASON = 160;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Reads the JUnit file of ginkgo. Tests that were not selected are in the file, but not among the results. */
export function readResults(junit: string): Results {
  const results = new Map<string, Result>();
  for (const [, head = '', body = ''] of junit.matchAll(TEST_CASE)) {
    const { name = '', status = '', time = '0' } = attributesOf(head);
    if (!name.startsWith(PREFIX)) continue;
    const { message = '' } = attributesOf(REASON.exec(body)?.[1] ?? '');
    const state = stateOf(status);
    // Ginkgo gives tests that were not selected no reason.
    if (state === 'skip' && (message === '' || message === 'skipped')) continue;
    const [reason = ''] = message.split('\n');
    results.set(name.slice(PREFIX.length), { state, seconds: Number(time), reason: reason.slice(0, MAX_REASON) });
  }
  return results;
}

function stateOf(status: string): State {
  if (status === 'passed') return 'pass';
  return status === 'skipped' || status === 'pending' ? 'skip' : 'fail';
}

function attributesOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...text.matchAll(ATTRIBUTE)].map(([, name = '', value = '']) => [name, decode(value)]));
}

function decode(text: string): string {
  return text.replace(/&(#?\w+);/g, (whole, name: string) => {
    const [, base, digits = ''] = /^#(x?)([0-9a-fA-F]+)$/.exec(name) ?? [];
    if (base !== undefined) return String.fromCodePoint(Number.parseInt(digits, base === 'x' ? 16 : 10));
    return ENTITIES[name] ?? whole;
  });
}
