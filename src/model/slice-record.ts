import {
  ANNOTATION_TRIGGER_TIME,
  ANNOTATION_WEIGHTS,
  type EndpointPort,
  type EndpointSlice,
  type EndpointSpec,
  objectKey,
  type Protocol,
} from '../api/index.ts';
import { internList } from '../lib/intern.ts';
import type { ReportProblem } from '../lib/problem.ts';
import { sameList } from '../lib/same-list.ts';
import { familyOf, type Ip, joinHostPort, parseIp } from '../net/index.ts';
import { type Endpoint, sameEndpoints } from './endpoint.ts';
import { parseTriggerTime } from './trigger-time.ts';
import { parseWeight, parseWeights } from './weights.ts';

/** The parts of an EndpointSlice that the proxy uses. */
export interface SliceRecord {
  /** `ns/slice` */
  readonly key: string;
  /** `ns/service` */
  readonly service: string;
  readonly ports: readonly SlicePort[];
  /** When the cause of the slice's last change happened, in milliseconds since 1970 with a fraction. */
  readonly triggerTime: number | undefined;
}

export interface SlicePort {
  readonly name: string;
  readonly protocol: Protocol;
  /** In the order of the slice. */
  readonly endpoints: readonly Endpoint[];
}

export function convertSlice(
  slice: EndpointSlice,
  service: string,
  nodeName: string,
  report: ReportProblem,
): SliceRecord {
  const key = objectKey(slice.metadata);
  const reportField: ReportField = (field, message) =>
    report({ kind: 'EndpointSlice', object: `EndpointSlice ${key}`, field, message });
  const addressed = slice.endpoints
    .map((endpoint, i) => ({ endpoint, ip: readAddress(slice.addressType, endpoint.addresses, i, reportField) }))
    .filter((pair): pair is AddressedEndpoint => pair.ip !== undefined);
  const weights = readWeights(slice, reportField);
  // `map` makes a list without spare room, which saves memory.
  const ports = slice.ports
    .filter((port, i) => checkPort(port, i, reportField))
    .map(({ name = '', protocol, port = 0 }) => ({
      name,
      protocol,
      endpoints: addressed.map(({ endpoint, ip }) =>
        convertEndpoint(endpoint, ip, port, nodeName, weightOf(weights, ip)),
      ),
    }));
  return { key, service, ports, triggerTime: readTriggerTime(slice, reportField) };
}

export function sameSlice(a: SliceRecord, b: SliceRecord): boolean {
  return a.service === b.service && a.triggerTime === b.triggerTime && sameList(a.ports, b.ports, samePort);
}

function samePort(a: SlicePort, b: SlicePort): boolean {
  return a.name === b.name && a.protocol === b.protocol && sameEndpoints(a.endpoints, b.endpoints);
}

type ReportField = (field: string, message: string) => void;

/** Reads the first address, which must be of the slice's type. Kubernetes ignores the others. */
function readAddress(
  addressType: string,
  addresses: readonly string[],
  i: number,
  report: ReportField,
): Ip | undefined {
  const [text] = addresses;
  if (text === undefined) {
    report(`endpoints[${i}].addresses`, 'is empty; the endpoint is left out');
    return undefined;
  }
  const ip = parseIp(text);
  if (ip !== undefined && familyOf(ip) === addressType) return ip;
  const wanted = ip === undefined ? 'an IP address' : `an ${addressType} address, as addressType says`;
  report(`endpoints[${i}].addresses[0]`, `${JSON.stringify(text)} is not ${wanted}; the endpoint is left out`);
  return undefined;
}

/** Reports a port that cannot be used, and returns false for it. */
function checkPort({ name, port }: EndpointPort, i: number, report: ReportField): boolean {
  if (name === undefined) report(`ports[${i}].name`, 'is missing; the port is left out');
  else if (!port) report(`ports[${i}].port`, 'is missing or 0; the port is left out');
  else return true;
  return false;
}

interface AddressedEndpoint {
  readonly endpoint: EndpointSpec;
  readonly ip: Ip;
}

function convertEndpoint(
  endpoint: EndpointSpec,
  ip: Ip,
  port: number,
  nodeName: string,
  weight: number | undefined,
): Endpoint {
  return {
    ip,
    port,
    text: joinHostPort(ip, port),
    nodeName: endpoint.nodeName,
    isLocal: nodeName !== '' && endpoint.nodeName === nodeName,
    ready: endpoint.ready ?? true,
    serving: endpoint.serving ?? true,
    terminating: endpoint.terminating ?? false,
    zone: endpoint.zone,
    weight,
    zoneHints: hintsOf(endpoint.zoneHints),
    nodeHints: hintsOf(endpoint.nodeHints),
  };
}

function hintsOf(hints: readonly string[]): readonly string[] | undefined {
  return hints.length === 0 ? undefined : internList(hints);
}

function readTriggerTime(slice: EndpointSlice, report: ReportField): number | undefined {
  const text = slice.metadata.annotations[ANNOTATION_TRIGGER_TIME];
  if (text === undefined) return undefined;
  const time = parseTriggerTime(text);
  if (time === undefined) {
    report(`metadata.annotations[${ANNOTATION_TRIGGER_TIME}]`, `${JSON.stringify(text)} is not an RFC 3339 time`);
  }
  return time;
}

type SliceWeights = number | ReadonlyMap<string, number> | undefined;

function weightOf(weights: SliceWeights, ip: Ip): number | undefined {
  return typeof weights === 'object' ? weights.get(ip) : weights;
}

/** One weight for all endpoints of the slice, or weights by address. */
function readWeights(slice: EndpointSlice, report: ReportField): SliceWeights {
  const text = slice.metadata.annotations[ANNOTATION_WEIGHTS];
  if (text === undefined) return undefined;
  const weights = parseWeight(text.trim()) ?? parseWeights(text);
  if (weights === undefined) {
    const message = `${JSON.stringify(text)} is not a weight from 0 to 1000, nor a list such as 10.0.0.1=3,10.0.0.2=1`;
    report(`metadata.annotations[${ANNOTATION_WEIGHTS}]`, `${message}, and is left out; correct or remove it`);
  }
  return weights;
}
