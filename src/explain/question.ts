import { objectKey, type Protocol } from '../api/index.ts';
import { goQuote } from '../lib/go-quote.ts';
import { type Ip, joinHostPort, parseIp } from '../net/index.ts';
import type { AskedQuestion } from './explanation.ts';

/** What the operator wants to know. */
export interface OperatorQuestion {
  readonly to: Target;
  readonly from: From;
  readonly probe: boolean;
}

export type Target = ServiceTarget | AddressTarget;

export interface ServiceTarget {
  readonly kind: 'service';
  readonly namespace: string;
  readonly name: string;
  /** The name or number of a port. */
  readonly port?: string | undefined;
  readonly protocol?: Protocol | undefined;
}

export interface AddressTarget {
  readonly kind: 'address';
  readonly ip: Ip;
  readonly port: number;
  readonly protocol?: Protocol | undefined;
}

export type From =
  | { readonly kind: 'default' }
  | { readonly kind: 'any-pod' }
  | { readonly kind: 'node' }
  | { readonly kind: 'outside' }
  | { readonly kind: 'address'; readonly ip: Ip }
  | { readonly kind: 'pod'; readonly namespace: string; readonly name: string };

/** A question that cannot be read. The message says how to write it. */
export class QuestionError extends Error {
  override readonly name = 'QuestionError';
}

export interface QuestionTexts {
  /** `SERVICE[:PORT]`, `NS/SERVICE[:PORT]`, `IP:PORT`, each with `/udp` or `/sctp`. */
  readonly to: string;
  /** `POD`, `NS/POD`, `IP`, `pod` for any pod of this node, `node` or `outside`. */
  readonly from?: string | undefined;
  readonly probe?: boolean | undefined;
  /** Of names without one. */
  readonly namespace?: string | undefined;
}

/** Throws a QuestionError. */
export function parseQuestion({
  to,
  from = '',
  probe = false,
  namespace = 'default',
}: QuestionTexts): OperatorQuestion {
  return { to: parseTarget(to, namespace), from: parseFrom(from, namespace), probe };
}

/** The question in the form that `parseQuestion` reads without a namespace. */
export function questionTexts({ to, from, probe }: OperatorQuestion): AskedQuestion {
  const fromText = from.kind === 'default' ? undefined : textOfFrom(from);
  return { to: textOfTarget(to), ...(fromText === undefined ? {} : { from: fromText }), probe };
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = { tcp: 'TCP', udp: 'UDP', sctp: 'SCTP' };
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const POD_NAME = /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/;
/** `web.shop.svc.cluster.local`, as programs in pods call a Service. */
const DNS_NAME = /^([^./]+)\.([^./]+)\.svc(?:\..*)?$/;
const HELP =
  'ask for SERVICE, SERVICE:PORT, NAMESPACE/SERVICE:PORT or IP:PORT, and append /udp or /sctp if it is not TCP';

function parseTarget(text: string, namespace: string): Target {
  const { rest, protocol } = splitProtocol(text);
  const address = parseAddress(rest);
  if (address) return { kind: 'address', ...address, protocol };
  const colon = rest.lastIndexOf(':');
  const service = colon < 0 ? rest : rest.slice(0, colon);
  const port = colon < 0 ? undefined : rest.slice(colon + 1);
  if (port === '') throw new QuestionError(`there is no port after the colon in ${goQuote(text)}: ${HELP}`);
  return { kind: 'service', ...parseName(service, namespace, NAME, text), port, protocol };
}

function splitProtocol(text: string): { readonly rest: string; readonly protocol: Protocol | undefined } {
  const slash = text.lastIndexOf('/');
  const protocol = slash < 0 ? undefined : PROTOCOLS[text.slice(slash + 1).toLowerCase()];
  // A Service may be named udp: `default/udp` has no port, so the word is the name.
  const isName = protocol !== undefined && !/[:.]/.test(text) && text.indexOf('/') === slash;
  return protocol === undefined || isName
    ? { rest: text, protocol: undefined }
    : { rest: text.slice(0, slash), protocol };
}

function parseAddress(text: string): { readonly ip: Ip; readonly port: number } | undefined {
  const bare = parseIp(text.replace(/^\[(.*)\]$/, '$1'));
  if (bare !== undefined) throw new QuestionError(`${text} has no port: ask for ${joinHostPort(bare, 'PORT')}`);
  const colon = text.lastIndexOf(':');
  const ip = parseIp(text.slice(0, Math.max(0, colon)).replace(/^\[(.*)\]$/, '$1'));
  if (ip === undefined) return undefined;
  const digits = text.slice(colon + 1);
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  if (port < 1 || port > 65535) {
    throw new QuestionError(`${goQuote(digits)} is no port: after an address, give a number from 1 to 65535`);
  }
  return { ip, port };
}

function parseName(text: string, namespace: string, form: RegExp, whole: string): { namespace: string; name: string } {
  const dns = DNS_NAME.exec(text);
  const [first = '', second, ...more] = dns ? [dns[2], dns[1]] : text.split('/');
  const found = second === undefined ? { namespace, name: first } : { namespace: first, name: second };
  if (more.length === 0 && form.test(found.name) && NAME.test(found.namespace)) return found;
  throw new QuestionError(`${goQuote(whole)} is neither a name nor an address: ${HELP}`);
}

function parseFrom(text: string, namespace: string): From {
  if (text === '') return { kind: 'default' };
  if (text === 'pod') return { kind: 'any-pod' };
  if (text === 'node' || text === 'outside') return { kind: text };
  const ip = parseIp(text.replace(/^\[(.*)\]$/, '$1'));
  if (ip !== undefined) return { kind: 'address', ip };
  try {
    return { kind: 'pod', ...parseName(text, namespace, POD_NAME, text) };
  } catch {
    throw new QuestionError(
      `${goQuote(text)} is no caller: give POD, NAMESPACE/POD, an IP address, pod, node or outside`,
    );
  }
}

export function textOfTarget(target: Target): string {
  const protocol = target.protocol === undefined ? '' : `/${target.protocol.toLowerCase()}`;
  if (target.kind === 'address') return `${joinHostPort(target.ip, target.port)}${protocol}`;
  return `${objectKey(target)}${target.port === undefined ? '' : `:${target.port}`}${protocol}`;
}

function textOfFrom(from: Exclude<From, { kind: 'default' }>): string {
  switch (from.kind) {
    case 'any-pod':
      return 'pod';
    case 'node':
    case 'outside':
      return from.kind;
    case 'address':
      return from.ip;
    case 'pod':
      return objectKey(from);
  }
}
