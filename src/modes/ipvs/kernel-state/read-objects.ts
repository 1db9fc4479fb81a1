import { KernelError } from '../../../kernel/errors.ts';
import { type Element, type IpsetSocket, L4, printCreate, printElement } from '../../../kernel/ipset/index.ts';
import { type DestinationEntry, type IpvsSocket, printDestination, printService } from '../../../kernel/ipvs/index.ts';
import { uninterrupted } from '../../../kernel/netlink/index.ts';
import type { AddressFilter, RouteSocket } from '../../../kernel/rtnetlink/index.ts';
import { type Family, type Ip, joinHostPort } from '../../../net/index.ts';
import type { ServicePortPlan } from '../../../plan/index.ts';
import type { KernelEntry, ReadBudget } from '../../read-back.ts';
import { isDrained } from '../diff.ts';
import { ipSet, LINK, type SetKey, setName } from '../names.ts';
import type { SetElement } from '../render.ts';
import type { VirtualServer } from '../wanted/virtual-server.ts';
import { weightOf } from '../wanted/weights.ts';
import { PREFIX_LENGTH } from './address-table.ts';

/** Virtual servers and their real servers, in the words of `ipvsadm -S -n`. */
export async function readServers(
  socket: IpvsSocket,
  servers: readonly VirtualServer[],
  budget: ReadBudget,
): Promise<readonly KernelEntry[]> {
  const entries: KernelEntry[] = [];
  for (const server of servers) {
    const { service } = server;
    if (!(await budget.spend())) break;
    const found = socket.service(service.key);
    const counted = found?.stats && Number(found.stats.connections);
    entries.push({
      kind: 'virtual server',
      place: 'ipvs',
      wanted: printService('-A', service),
      found: found && printService('-A', found),
      ...(counted !== undefined && { counted }),
    });
    // The real servers of a missing virtual server are missing with it.
    if (found) entries.push(...realServers(server, socket.destinations(service.key)));
  }
  return entries;
}

function* realServers(
  { service: { key }, endpoints, weights }: VirtualServer,
  found: readonly DestinationEntry[],
): Generator<KernelEntry> {
  const kind = 'real server';
  const place = 'ipvs';
  // Some kernels list a real server on the machine itself as `local`.
  const text = (entry: DestinationEntry) =>
    printDestination('-a', key, { ...entry, forward: entry.forward === 'local' ? 'masq' : entry.forward });
  const present = new Map(found.map(entry => [joinHostPort(entry.address, entry.port), entry]));
  for (const endpoint of endpoints) {
    const { ip: address, port, text: name } = endpoint;
    const entry = present.get(name);
    present.delete(name);
    const wanted = printDestination('-a', key, { address, port, weight: weightOf(endpoint, weights) });
    const counted = entry?.stats && Number(entry.stats.connections);
    yield { kind, place, wanted, found: entry && text(entry), ...(counted !== undefined && { counted }) };
  }
  for (const entry of present.values()) {
    // A real server that leaves keeps its connections.
    const isLeaving = entry.weight === 0 && isDrained(key);
    yield { kind, place, wanted: isLeaving ? text(entry) : undefined, found: text(entry) };
  }
}

export interface ElementsToRead {
  readonly family: Family;
  readonly plan: ServicePortPlan;
  readonly elements: readonly SetElement[];
  /** Whether another service port wants the element. */
  isWanted(set: SetKey, element: Element): boolean;
}

/** Entries of sets, in the words of `ipset save`. */
export async function readElements(
  socket: IpsetSocket,
  { family, plan, elements, isWanted }: ElementsToRead,
  budget: ReadBudget,
): Promise<readonly KernelEntry[]> {
  const entries: KernelEntry[] = [];
  const sets = new Map<SetKey, boolean>();
  const has = async (set: SetKey, element: Element) => {
    if (sets.get(set) === false) return undefined;
    const found = await testElement(socket, setName(set, family), element);
    if (!sets.has(set)) entries.push(setEntry(set, family, found !== undefined));
    sets.set(set, found !== undefined);
    return found;
  };
  const names = new Set<string>();
  for (const { set, element } of elements) {
    const text = `add ${setName(set, family)} ${printElement(element)}`;
    if (names.has(text) || !(await budget.spend())) continue;
    names.add(text);
    const found = await has(set, element);
    // The entries of a missing set are missing with it.
    if (found !== undefined) entries.push(elementEntry(set, family, text, found ? text : undefined));
  }
  for (const { set, element } of possibleElements(plan)) {
    const text = `add ${setName(set, family)} ${printElement(element)}`;
    if (names.has(text) || isWanted(set, element) || !(await budget.spend())) continue;
    if (await has(set, element)) entries.push(elementEntry(set, family, undefined, text));
  }
  return entries;
}

/** The elements that the frontends could have in any set. */
function* possibleElements({ frontends, port: { protocol } }: ServicePortPlan): Generator<SetElement> {
  const address = [
    'clusterIP',
    'externalIP',
    'externalIPLocal',
    'loadBalancer',
    'loadBalancerLocal',
    'loadBalancerFirewall',
  ] as const;
  for (const { ip, port } of frontends) {
    if (ip !== undefined) {
      const element = { kind: 'hash:ip,port', ip, protocol: L4[protocol], port } as const;
      for (const set of address) yield { set, element };
    } else if (protocol !== 'SCTP') {
      for (const set of [`nodePort${protocol}`, `nodePortLocal${protocol}`] as const) {
        yield { set, element: { kind: 'bitmap:port', port } };
      }
    }
  }
}

function setEntry(set: SetKey, family: Family, exists: boolean): KernelEntry {
  const wanted = printCreate(ipSet(set, family));
  return { kind: 'set', place: 'ipset', wanted, found: exists ? wanted : undefined };
}

function elementEntry(set: SetKey, family: Family, wanted: string | undefined, found: string | undefined): KernelEntry {
  return { kind: 'set entry', place: `set ${setName(set, family)}`, wanted, found };
}

/** Undefined if there is no such set. */
async function testElement(socket: IpsetSocket, set: string, element: Element): Promise<boolean | undefined> {
  try {
    return await socket.test(set, element);
  } catch (error) {
    if (error instanceof KernelError && error.errno === 'ENOENT') return undefined;
    throw error;
  }
}

async function findAddresses(
  socket: RouteSocket,
  filter: AddressFilter,
  ips: ReadonlyMap<Ip, boolean>,
): Promise<ReadonlySet<Ip>> {
  const found = new Set<Ip>();
  for await (const { ip } of socket.streamAddresses(filter)) if (ips.has(ip)) found.add(ip);
  return found;
}

export function addressText(family: Family, ip: Ip): string {
  return `${family === 'IPv4' ? 'inet' : 'inet6'} ${ip}/${PREFIX_LENGTH[family]}`;
}

/** Addresses of kube-ipvs0, in the words of `ip addr`. */
export async function readAddresses(
  socket: RouteSocket,
  family: Family,
  ips: ReadonlyMap<Ip, boolean>,
): Promise<readonly KernelEntry[]> {
  const link = socket.link(LINK);
  if (!link) return [{ kind: 'link', place: 'ip link', wanted: LINK, found: undefined }];
  const found = await uninterrupted(() => findAddresses(socket, { family, link }, ips));
  const text = (ip: Ip) => addressText(family, ip);
  return [...ips].flatMap(([ip, isWanted]) => {
    if (!isWanted && !found.has(ip)) return [];
    const wanted = isWanted ? text(ip) : undefined;
    return [{ kind: 'address', place: `dev ${LINK}`, wanted, found: found.has(ip) ? text(ip) : undefined }];
  });
}
