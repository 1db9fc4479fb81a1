import { isRecord } from '../lib/is-record.ts';
import { type Ip, parseIp } from '../net/index.ts';
import type { SelectedProtocol } from './selection.ts';

/** The addresses and ports at which a Service accepts connections. */
export interface KnownService {
  /** `ns/name` */
  readonly key: string;
  readonly ports: readonly KnownPort[];
}

/** A port of a Service. There may be one of the same name for each IP family. */
export interface KnownPort {
  readonly name: string;
  readonly protocol: SelectedProtocol;
  readonly frontends: readonly { readonly address: Ip | 'node'; readonly port: number }[];
}

/** Rejects with an Error that says what to do if there is no such Service. */
export type FindService = (namespace: string, name: string) => Promise<KnownService>;

/**
 * The Service that a line of `/v1/plan` describes. An older or newer proxy may send something else, so this takes what
 * it understands.
 */
export function serviceOfReport(key: string, report: object): KnownService {
  return { key, ports: records((report as { readonly ports?: unknown }).ports).map(portOfReport) };
}

function portOfReport({ name, protocol, frontends }: Readonly<Record<string, unknown>>): KnownPort {
  return {
    name: String(name ?? ''),
    protocol: PROTOCOLS.find(known => known === protocol) ?? 'TCP',
    frontends: records(frontends).flatMap(({ address, port }) => {
      const ip = address === undefined ? 'node' : parseIp(String(address));
      return ip && typeof port === 'number' ? [{ address: ip, port }] : [];
    }),
  };
}

const PROTOCOLS: readonly SelectedProtocol[] = ['TCP', 'UDP', 'SCTP'];

function records(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
