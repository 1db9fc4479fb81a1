import { type PlainObject, writeYaml } from '../../lib/document/index.ts';
import { type HttpAnswer, type HttpRequest, type MediaRange, parseAccept } from '../http/index.ts';

const GROUP = 'config.k8s.io';

/** A page that can be sent as text or as an object. */
export interface Page {
  /** `Flagz` */
  readonly kind: string;
  text(): string;
  /** The fields of the object, without kind, version and metadata. */
  fields(): PlainObject;
}

type Version = 'v1beta1' | 'v1alpha1';

type Form =
  | { readonly kind: 'text' }
  | {
      readonly kind: 'object';
      readonly type: 'json' | 'yaml';
      readonly version: Version;
      readonly isIndented: boolean;
    };

const COMPONENT = 'kube-proxy';
const TYPES = ['json', 'yaml'] as const;
const TEXT: Form = { kind: 'text' };

/** Sends a page in the form that the caller prefers. The default is text. */
export function negotiate(request: HttpRequest, page: Page): HttpAnswer {
  const ranges = parseAccept(request.headers.accept ?? '');
  const form = ranges.length === 0 ? TEXT : firstForm(ranges, page.kind);
  if (!form) return notAcceptable(request, ranges);
  if (form.kind === 'text') {
    return { status: 200, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: page.text() };
  }
  const { type, version } = form;
  const object = {
    kind: page.kind,
    apiVersion: `${GROUP}/${version}`,
    metadata: { name: COMPONENT },
    ...page.fields(),
  };
  const body = objectText(object, type, form.isIndented || wantsIndentation(request));
  const headers = {
    'Content-Type': `application/${type};g=${GROUP};v=${version};as=${page.kind}`,
    ...(version === 'v1alpha1' ? deprecation(page.kind) : {}),
  };
  return { status: 200, headers, body };
}

function firstForm(ranges: readonly MediaRange[], kind: string): Form | undefined {
  for (const range of ranges) {
    const type = structuredType(range);
    const version = versionOf(range, kind);
    if (type && version) return { kind: 'object', type, version, isIndented: range.parameters.get('pretty') === '1' };
    if (matches(range, 'text', 'plain') && !wantsKind(range) && !hasUnsupportedParameters(range)) return TEXT;
  }
  return undefined;
}

function structuredType(range: MediaRange): 'json' | 'yaml' | undefined {
  return TYPES.find(type => matches(range, 'application', type));
}

function matches(range: MediaRange, type: string, subtype: string): boolean {
  return (range.type === type && (range.subtype === subtype || range.subtype === '*')) || range.type === '*';
}

function versionOf(range: MediaRange, kind: string): Version | undefined {
  const { parameters } = range;
  const version = parameters.get('v');
  const isOurs = parameters.get('g') === GROUP && parameters.get('as') === kind;
  if (!isOurs || hasUnsupportedParameters(range)) return undefined;
  return version === 'v1beta1' || version === 'v1alpha1' ? version : undefined;
}

function wantsKind({ parameters }: MediaRange): boolean {
  return ['v', 'g', 'as'].some(name => parameters.has(name));
}

/** Parameters that only API servers support. */
function hasUnsupportedParameters({ parameters }: MediaRange): boolean {
  return parameters.has('sv') || parameters.has('stream');
}

function deprecation(kind: string): Record<string, string> {
  const endpoint = kind.toLowerCase();
  return { Warning: `299 - "This version of the ${endpoint} endpoint is deprecated. Please use a newer version."` };
}

function notAcceptable(request: HttpRequest, ranges: readonly MediaRange[]): HttpAnswer {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'only the following media types are accepted: application/json, application/yaml, text/plain',
    reason: 'NotAcceptable',
    code: 406,
  };
  const range = ranges.find(range => structuredType(range) && !wantsKind(range) && !range.parameters.has('sv'));
  const type = (range && structuredType(range)) ?? 'json';
  const isIndented = !range || range.parameters.get('pretty') === '1' || wantsIndentation(request);
  return {
    status: 406,
    headers: { 'Content-Type': `application/${type}` },
    body: objectText(status, type, isIndented),
  };
}

function objectText(object: PlainObject, type: 'json' | 'yaml', isIndented: boolean): string {
  if (type === 'yaml') return writeYaml(object);
  return isIndented ? JSON.stringify(object, undefined, 2) : `${JSON.stringify(object)}\n`;
}

/** The query decides. Otherwise programs that people use get indented JSON, as from an API server. */
function wantsIndentation({ query, headers: { 'user-agent': agent = '' } }: HttpRequest): boolean {
  const pretty = query.get('pretty') ?? '';
  if (pretty !== '') return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(pretty);
  return ['curl', 'Wget', 'Mozilla/5.0'].some(name => agent.startsWith(name));
}
