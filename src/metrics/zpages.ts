import { type HttpAnswer, textAnswer } from '../http/index.ts';

const COMPONENT = 'kube-proxy';
const GROUP = 'config.k8s.io';
const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';

export interface StatuszInfo {
  readonly binaryVersion: string;
  /** The release of Kubernetes whose behaviour is followed: `1.36`. */
  readonly emulationVersion: string;
}

interface StatuszContent extends StatuszInfo {
  readonly startMs: number;
  readonly nowMs: number;
  readonly paths: readonly string[];
}

/** How an answer is to be written. */
type Format =
  | { readonly kind: 'text' }
  | { readonly kind: 'structured'; readonly type: 'json' | 'yaml'; readonly version: 'v1beta1' | 'v1alpha1' };

export function flagzAnswer(flags: ReadonlyMap<string, string>, accept: string | undefined): HttpAnswer {
  const sorted = [...flags].sort(([a], [b]) => (a < b ? -1 : 1));
  return negotiate(accept, 'Flagz', {
    text: () =>
      page(
        'flagz',
        sorted.map(([name, value]) => `${name}=${value}`),
      ),
    fields: () => ({ flags: Object.fromEntries(sorted) }),
  });
}

export function statuszAnswer(status: StatuszContent, accept: string | undefined): HttpAnswer {
  const uptimeSeconds = Math.max(0, Math.floor((status.nowMs - status.startMs) / 1000));
  return negotiate(accept, 'Statusz', {
    text: () => page('statusz', ['', ...statusLines(status, uptimeSeconds)]),
    fields: () => ({
      startTime: `${new Date(status.startMs).toISOString().slice(0, 19)}Z`,
      uptimeSeconds,
      goVersion: `Node ${process.version}`,
      binaryVersion: status.binaryVersion,
      emulationVersion: status.emulationVersion,
      paths: status.paths,
    }),
  });
}

function statusLines({ startMs, binaryVersion, emulationVersion, paths }: StatuszContent, uptime: number): string[] {
  const two = (value: number) => String(value).padStart(2, '0');
  return [
    `Started: ${unixDate(startMs)}`,
    `Up: ${Math.floor(uptime / 3600)} hr ${two(Math.floor(uptime / 60) % 60)} min ${two(uptime % 60)} sec`,
    `Node version: ${process.version}`,
    `Binary version: ${binaryVersion}`,
    `Emulation version: ${emulationVersion}`,
    `Paths: ${paths.join(' ')}`,
  ];
}

/** `Sun Nov 15 07:36:47 UTC 2026` */
function unixDate(ms: number): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = new Date(ms).toUTCString().split(' ');
  return `${weekday.slice(0, 3)} ${month} ${day.replace(/^0/, ' ')} ${time} UTC ${year}`;
}

function page(name: string, lines: readonly string[]): string {
  return ['', `${COMPONENT} ${name}`, WARNING, ...lines].map(line => `${line}\n`).join('');
}

interface Content {
  text(): string;
  fields(): object;
}

function negotiate(accept: string | undefined, kind: string, content: Content): HttpAnswer {
  const format = formatOf(accept, kind);
  if (!format) {
    const example = `application/json;v=v1beta1;g=${GROUP};as=${kind}`;
    return textAnswer(406, `not acceptable: accept text/plain or ${example}\n`);
  }
  if (format.kind === 'text') {
    return { status: 200, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: content.text() };
  }
  const apiVersion = `${GROUP}/${format.version}`;
  const object = { kind, apiVersion, metadata: { name: COMPONENT }, ...content.fields() };
  const headers = { 'Content-Type': `application/${format.type}`, ...deprecation(format.version, kind) };
  // JSON is YAML.
  return { status: 200, headers, body: `${JSON.stringify(object)}\n` };
}

function deprecation(version: string, kind: string): Record<string, string> {
  return version === 'v1alpha1' ? { Warning: `299 - "${GROUP}/v1alpha1 ${kind} is deprecated, use v1beta1"` } : {};
}

/** The first form asked for that we have; undefined if there is none. */
function formatOf(accept: string | undefined, kind: string): Format | undefined {
  if (accept === undefined || accept.trim() === '') return { kind: 'text' };
  for (const range of accept.split(',')) {
    const [type = '', ...rest] = range.split(';').map(part => part.trim());
    if (type === '*/*' || type === 'text/*' || type === 'text/plain') return { kind: 'text' };
    const parameters = new Map(rest.map(part => splitOnce(part, '=')));
    const version = parameters.get('v');
    const structured = type === 'application/json' ? 'json' : type === 'application/yaml' ? 'yaml' : undefined;
    const ours = parameters.get('g') === GROUP && parameters.get('as') === kind;
    if (structured && ours && (version === 'v1beta1' || version === 'v1alpha1')) {
      return { kind: 'structured', type: structured, version };
    }
  }
  return undefined;
}

function splitOnce(text: string, at: string): [string, string] {
  const index = text.indexOf(at);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}
