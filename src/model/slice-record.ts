import {
  ANNOTATION_TRIGGER_TIME,
  type EndpointPort,
  type EndpointSlice,
  type EndpointSpec,
  objectKey,
  type Protocol,
} from '../api/index.ts';
import type { ReportProblem } from '../lib/problem.ts';
import { type Ip, joinHostPort, parseIp } from '../net/index.ts';
import { type Endpoint, sameEndpoints } from './endpoint.ts';
import { parseTriggerTime } from './trigger-time.ts';

/** What is kept of an EndpointSlice. */
export interface SliceRecord {
  /** `ns/slice` */
  readonly key: string;
  /** `ns/service` */
  readonly service: string;
  readonly ports: readonly SlicePort[];
  /** When the cause of the slice's last change happened: milliseconds since 1970, with a fraction. */
  readonly triggerTime: number | undefined;
}

export interface SlicePort {
  readonly name: string;
  readonly protocol: Protocol;
  /** In the slice's order. */
  readonly endpoints: readonly Endpoint[];
}

export function convertSlice(
  slice: EndpointSlice,
  service: string,
  nodeName: string,
  report: ReportProblem,
): SliceRecord {
  const key = objectKey(slice.metadata);
  const problem = (field: string, message: string) => report({ object: `EndpointSlice ${key}`, field, message });
  const addressed = slice.endpoints
    .map((endpoint, i) => ({ endpoint, ip: readAddress(endpoint.addresses, i, problem) }))
    .filter((pair): pair is AddressedEndpoint => pair.ip !== undefined);
  // Lists that are kept are made by map, which allocates no more than it fills.
  const ports = slice.ports
    .filter((port, i) => isUsablePort(port, i, problem))
    .map(({ name = '', protocol, port = 0 }) => ({
      name,
      protocol,
      endpoints: addressed.map(({ endpoint, ip }) => convertEndpoint(endpoint, ip, port, nodeName)),
    }));
  return { key, service, ports, triggerTime: readTriggerTime(slice, problem) };
}

export function sameSlice(a: SliceRecord, b: SliceRecord): boolean {
  return (
    a.service === b.service &&
    a.triggerTime === b.triggerTime &&
    a.ports.length === b.ports.length &&
    a.ports.every((port, i) => {
      const other = b.ports[i];
      return (
        other !== undefined &&
        port.name === other.name &&
        port.protocol === other.protocol &&
        sameEndpoints(port.endpoints, other.endpoints)
      );
    })
  );
}

type ReportField = (field: string, message: string) => void;

/** Only the first address counts. */
function readAddress(addresses: readonly string[], i: number, problem: ReportField): Ip | undefined {
  const [text] = addresses;
  if (text === undefined) {
    problem(`endpoints[${i}].addresses`, 'is empty; the endpoint is left out');
    return undefined;
  }
  const ip = parseIp(text);
  if (ip === undefined) {
    problem(`endpoints[${i}].addresses[0]`, `${JSON.stringify(text)} is not an IP address; the endpoint is left out`);
  }
  return ip;
}

function isUsablePort({ name, port }: EndpointPort, i: number, problem: ReportField): boolean {
  if (name === undefined) problem(`ports[${i}].name`, 'is missing; the port is left out');
  else if (!port) problem(`ports[${i}].port`, 'is missing or 0; the port is left out');
  else return true;
  return false;
}

interface AddressedEndpoint {
  readonly endpoint: EndpointSpec;
  readonly ip: Ip;
}

function convertEndpoint(endpoint: EndpointSpec, ip: Ip, port: number, nodeName: string): Endpoint {
  return {
    ip,
    port,
    text: joinHostPort(ip, port),
    nodeName: endpoint.nodeName,
    isLocal: nodeName !== '' && endpoint.nodeName === nodeName,
    ready: endpoint.ready ?? true,
    serving: endpoint.serving ?? true,
    terminating: endpoint.terminating ?? false,
    zoneHints: sharedHints(endpoint.zoneHints),
    nodeHints: sharedHints(endpoint.nodeHints),
  };
}

const singleHints = new Map<string, readonly string[]>();

/** Nearly every hint is one name out of few, so those lists are shared. */
function sharedHints(hints: readonly string[]): readonly string[] | undefined {
  const [only] = hints;
  if (only === undefined) return undefined;
  if (hints.length > 1) return [...hints];
  const shared = singleHints.get(only);
  if (shared) return shared;
  const single = Object.freeze([only]);
  singleHints.set(only, single);
  return single;
}

function readTriggerTime(slice: EndpointSlice, problem: ReportField): number | undefined {
  const text = slice.metadata.annotations[ANNOTATION_TRIGGER_TIME];
  if (text === undefined) return undefined;
  const time = parseTriggerTime(text);
  if (time === undefined) {
    problem(`metadata.annotations[${ANNOTATION_TRIGGER_TIME}]`, `${JSON.stringify(text)} is not an RFC 3339 time`);
  }
  return time;
}
