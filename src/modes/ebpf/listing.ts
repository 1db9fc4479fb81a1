import type { MapSpec, ProgramSpec } from '../../kernel/bpf/index.ts';
import { appendTo } from '../../lib/append-to.ts';
import { Breaks } from '../../lib/breaks.ts';
import type { Family, Ip } from '../../net/index.ts';
import type { ListedLine, Listing } from '../listing.ts';
import { arrangeListing, type DraftBlock, linkNames } from '../listing-order.ts';
import { aboutMap, aboutProgram } from './explained/about.ts';
import {
  memberLine,
  nodeAddressLine,
  poolLine,
  poolName,
  runName,
  slotLine,
  targetLine,
} from './explained/map-texts.ts';
import { DIGIT } from './generation/capacity.ts';
import type { PlacedPort } from './generation/placed-port.ts';
import type { PlacedPool } from './generation/pool-table.ts';
import { targetValue } from './generation/target-value.ts';
import { type MapName, mapSpec, type PoolValue } from './programs/index.ts';
import { type NodeAddressKind, poolMembers } from './render.ts';

export interface ListingInput {
  readonly family: Family;
  /** Those of the current generation. */
  readonly programs: readonly ProgramSpec[];
  /** The service ports of one Service, or none. */
  readonly own: readonly { readonly service: string; readonly placed: PlacedPort }[];
  /** All service ports of the family. */
  readonly all: Iterable<PlacedPort>;
  readonly nodeAddresses: ReadonlyMap<Ip, NodeAddressKind>;
  /** The slots that a pool has. */
  readonly runOf: (pool: PlacedPool) => PoolValue;
}

/** Blocks of the sockets come before those of any packet. */
const GROUP = 'sockets: connect()';

/** The programs of one family and the maps that they look up, with the elements of one Service. */
export async function listEbpf(input: ListingInput): Promise<Listing> {
  const programs = input.programs.filter(({ hook }) => isOfFamily(hook, input.family));
  const named = programs.flatMap(({ assembled }) => assembled.references.map(({ map }) => map as MapName));
  const shown = new Set(named.filter(name => !/\d$/.test(name) || isOfFamily(name, input.family)));
  const lines = mapLines(input);
  const totals = await countLines(input);
  const maps = [...shown].map(name => mapBlock(name, lines.get(name) ?? [], totals.get(name)));
  return arrangeListing({ blocks: [...programs.map(programBlock), ...maps], rest: GROUP });
}

/** The kernel runs the programs of IPv6 sockets for IPv4 addresses too. Their listing would say everything twice. */
function isOfFamily(name: string, family: Family): boolean {
  return name === 'release' || name.endsWith(String(DIGIT[family]));
}

function programBlock({ name, hook, assembled }: ProgramSpec): DraftBlock {
  const maps = [...new Set(assembled.references.map(({ map }) => map))];
  const references = maps.map(map => ({ before: '', name: `map[${map}]`, block: `map ${map}` }));
  return {
    id: `program ${name}`,
    kind: 'program',
    name,
    group: GROUP,
    about: aboutProgram(hook),
    head: hook === 'release' ? 'cgroup/sock_release' : `cgroup/${hook}`,
    command: `bpftool prog dump xlated name ${name}`,
    lines: assembled.listing.map(text => ({ parts: linkNames(text, references) })),
  };
}

function mapBlock(name: MapName, lines: readonly ListedLine[], total: number | undefined): DraftBlock {
  return {
    id: `map ${name}`,
    kind: 'map',
    name,
    about: aboutMap(name),
    head: shapeText(mapSpec(name, 0)),
    command: `bpftool map dump name ${name}`,
    lines,
    ...(total !== undefined && { total }),
  };
}

function shapeText({ type, keyBytes, valueBytes }: MapSpec): string {
  return `${type}, keys of ${keyBytes} bytes, values of ${valueBytes} bytes`;
}

/** The elements of the Service, and the addresses of the node, by map. */
function mapLines({ family, own, nodeAddresses, runOf }: ListingInput): ReadonlyMap<MapName, readonly ListedLine[]> {
  const digit = DIGIT[family];
  const addresses = [...nodeAddresses].map(([ip, kind]) => ({ parts: [nodeAddressLine(ip, kind)] }));
  const lines = new Map<MapName, ListedLine[]>([[`nodeAddresses${digit}`, addresses]]);
  const add = (map: MapName, service: string, text: string, link?: { name: string; block: string }) => {
    const parts = link ? linkNames(text, [{ before: ': ', ...link }]) : [text];
    appendTo(lines, map, { parts, service });
  };
  for (const { service, placed } of own) {
    for (const { text, pool } of targetLines(placed)) {
      add(`frontends${digit}`, service, text, { name: poolName(pool), block: 'map pools' });
    }
    for (const pool of placed.pools.values()) {
      const { index, endpoints } = pool;
      const run = runOf(pool);
      add('pools', service, poolLine(index, run), { name: runName(run), block: `map slots${digit}` });
      for (const [i, endpoint] of endpoints.entries()) {
        add(`slots${digit}`, service, slotLine(run.first + i, endpoint));
      }
      if (placed.port.affinitySeconds === 0) continue;
      for (const endpoint of poolMembers(pool)) add(`members${digit}`, service, memberLine(index, endpoint));
    }
  }
  return lines;
}

function targetLines(placed: PlacedPort): readonly { readonly text: string; readonly pool: number }[] {
  return placed.port.targets.map(target => {
    const value = targetValue(placed, target);
    return { text: targetLine(target, value), pool: value.pool };
  });
}

/** How many elements all Services have, by map. */
async function countLines({ family, all, nodeAddresses }: ListingInput): Promise<ReadonlyMap<MapName, number>> {
  const counts = { frontends: 0, pools: 0, slots: 0, members: 0 };
  const breaks = new Breaks();
  for (const { port, pools } of all) {
    if (breaks.isDue) await breaks.take();
    counts.frontends += port.targets.length;
    counts.pools += pools.length;
    for (const pool of pools.values()) {
      counts.slots += pool.endpoints.length;
      if (port.affinitySeconds > 0) counts.members += poolMembers(pool).length;
    }
  }
  const digit = DIGIT[family];
  return new Map<MapName, number>([
    [`frontends${digit}`, counts.frontends],
    [`nodeAddresses${digit}`, nodeAddresses.size],
    ['pools', counts.pools],
    [`slots${digit}`, counts.slots],
    [`members${digit}`, counts.members],
  ]);
}
