import { goQuote } from '../lib/go-quote.ts';
import {
  type Cidr,
  cidrFamily,
  formatCidr,
  hostCidr,
  isHostCidr,
  joinHostPort,
  parseCidr,
  parseIp,
} from '../net/index.ts';
import type { FindService, KnownPort, KnownService } from './known-service.ts';
import type { PacketSelection, SelectedDestination, SelectedProtocol } from './selection.ts';

/** The texts of a selection cannot be read. The message says what is right. */
export class SelectionError extends Error {
  override readonly name = 'SelectionError';
}

/** The selection, and how to name it in messages. */
export interface NamedSelection {
  readonly selection: PacketSelection;
  readonly name: string;
}

const PROTOCOL = /\/(tcp|udp|sctp)$/i;
/** `10.96.0.10:80`, `[fd00::1]:80`, `node:30080` */
const WITH_PORT = /^(?:\[(.+)\]|([^:[\]]+)):(\d+)$/;
/** `web`, `web:http`, `shop/web:80` */
const SERVICE = /^(?:([a-z0-9.-]+)\/)?([a-z0-9.-]+)(?::([a-z0-9-]+))?$/;
const MAX_PORT = 65_535;

/** An empty text means anywhere. Throws a SelectionError, or the error of `findService`. */
export async function parseSelection(from: string, to: string, findService: FindService): Promise<NamedSelection> {
  const source = from === '' ? undefined : sourceOf(from);
  const all = to === '' ? [] : await destinationsOf(to, findService);
  const destinations = reachableFrom(source, all);
  if (all.length > 0 && destinations.length === 0) throw new SelectionError(otherFamilyText(from, to));
  const start = source === undefined ? 'anywhere' : source === 'node' ? 'this node' : addressText(source);
  const end = to === '' ? 'anywhere' : [...new Set(destinations.map(destinationText))].join(', ');
  return { selection: { source, destinations }, name: `from ${start} to ${end}` };
}

/** No packet has a source of one family and a destination of the other. */
function reachableFrom(
  source: PacketSelection['source'],
  destinations: readonly SelectedDestination[],
): readonly SelectedDestination[] {
  if (source === undefined || source === 'node') return destinations;
  return destinations.filter(({ address }) => address === 'node' || cidrFamily(address) === cidrFamily(source));
}

function otherFamilyText(from: string, to: string): string {
  return `${from} and ${to} have different IP families, so no packet can match: give addresses of one family`;
}

function sourceOf(text: string): Cidr | 'node' {
  if (text === 'node') return text;
  const address = addressOf(text);
  if (!address) throw new SelectionError(`invalid source ${goQuote(text)}: must be an IP, a CIDR or node`);
  return address;
}

async function destinationsOf(text: string, findService: FindService): Promise<readonly SelectedDestination[]> {
  const whole = addressOf(text);
  if (whole) return [{ address: whole }];
  const protocol = PROTOCOL.exec(text)?.[1]?.toUpperCase() as SelectedProtocol | undefined;
  const place = protocol === undefined ? text : text.replace(PROTOCOL, '');
  const [, bracketed, plain, digits] = WITH_PORT.exec(place) ?? [];
  const host = bracketed ?? plain ?? place;
  const address = host === 'node' ? host : addressOf(host);
  if (address) return [{ address, ...withPort(digits), ...(protocol && { protocol }) }];
  return await serviceDestinations(place, protocol, findService);
}

function withPort(digits: string | undefined): { readonly port?: number; readonly protocol?: SelectedProtocol } {
  if (digits === undefined) return {};
  const port = Number(digits);
  if (port < 1 || port > MAX_PORT) throw new SelectionError(`invalid port ${digits}: must be 1 to ${MAX_PORT}`);
  // A port without a protocol means TCP, as everywhere in Kubernetes.
  return { port, protocol: 'TCP' };
}

async function serviceDestinations(
  text: string,
  protocol: SelectedProtocol | undefined,
  findService: FindService,
): Promise<readonly SelectedDestination[]> {
  const [, namespace = 'default', name, port] = SERVICE.exec(text) ?? [];
  if (name === undefined) {
    throw new SelectionError(
      `invalid destination ${goQuote(text)}: must be a Service (namespace/name:port) or an address (IP:PORT)`,
    );
  }
  const service = await findService(namespace, name);
  const ports = service.ports.filter(
    known => (protocol === undefined || known.protocol === protocol) && (port === undefined || isPort(known, port)),
  );
  const found = ports.flatMap(portDestinations);
  if (found.length === 0) throw new SelectionError(nothingText(service, port));
  return found;
}

function isPort({ name, frontends }: KnownPort, wanted: string): boolean {
  return name === wanted || frontends.some(({ port }) => String(port) === wanted);
}

function portDestinations({ protocol, frontends }: KnownPort): readonly SelectedDestination[] {
  return frontends.map(({ address, port }) => ({
    address: address === 'node' ? 'node' : hostCidr(address),
    port,
    protocol,
  }));
}

function nothingText({ key, ports }: KnownService, wanted: string | undefined): string {
  if (ports.every(({ frontends }) => frontends.length === 0)) {
    return `Service ${key} has no address that packets could go to: follow the addresses of its pods`;
  }
  const texts = ports.map(({ name, protocol, frontends }) => {
    const numbers = [...new Set(frontends.map(({ port }) => port))].join(' and ');
    return `${name ? `${name} ` : ''}${numbers}/${protocol.toLowerCase()}`;
  });
  return `Service ${key} has no port ${goQuote(wanted ?? '')}: it has ${[...new Set(texts)].join(', ')}`;
}

function addressOf(text: string): Cidr | undefined {
  const ip = parseIp(text);
  return ip ? hostCidr(ip) : parseCidr(text);
}

function addressText(address: Cidr): string {
  return isHostCidr(address) ? address.address : formatCidr(address);
}

function destinationText({ address, port, protocol }: SelectedDestination): string {
  const host = address === 'node' ? 'the addresses of this node' : addressText(address);
  const suffix = protocol === undefined ? '' : `/${protocol.toLowerCase()}`;
  if (port === undefined) return `${host}${suffix}`;
  return address === 'node' ? `${host}, port ${port}${suffix}` : `${joinHostPort(host, port)}${suffix}`;
}
