import type { BpfMap, Hook } from '../../kernel/bpf/index.ts';
import type { Family, Ip } from '../../net/index.ts';
import {
  CHANGED_MEANWHILE,
  type KernelEntry,
  type KernelReading,
  MAX_PINNED_CLIENTS,
  ReadBudget,
} from '../read-back.ts';
import { memberLine, nodeAddressLine, poolLine, slotLine, targetLine } from './explained/map-texts.ts';
import { pinnedClients } from './explained/pinned-clients.ts';
import { indexBytes } from './explained/pinned-maps.ts';
import { DIGIT } from './generation/capacity.ts';
import type { GenerationMaps, StateMaps } from './generation/maps.ts';
import type { PlacedPort } from './generation/placed-port.ts';
import type { PlacedPool } from './generation/pool-table.ts';
import { targetValue } from './generation/target-value.ts';
import {
  decodeNodeAddress,
  decodePool,
  decodeSlot,
  decodeTarget,
  encodeMember,
  frontendKey,
  type MapName,
  nodeAddressKey,
  type PoolValue,
} from './programs/index.ts';
import { type NodeAddressKind, poolMembers, type SocketEndpoint } from './render.ts';

/** A program at a hook of the control group, as the kernel has it now. */
export interface LinkReading {
  readonly hook: Hook;
  /** What another program did to the link, in words. Undefined if the link is as it should be. */
  readonly problem: string | undefined;
}

export interface ReadBackInput {
  readonly family: Family;
  /** The service port as the maps should have it. Undefined if sockets leave all of it to the network. */
  readonly placed: PlacedPort | undefined;
  /** The TCP frontends that sockets leave to the network. The maps must not have them. */
  readonly left: readonly { readonly ip: Ip | undefined; readonly port: number }[];
  readonly nodeAddresses: ReadonlyMap<Ip, NodeAddressKind>;
  readonly maps: GenerationMaps;
  /** The slots that a pool has. */
  readonly runOf: (pool: PlacedPool) => PoolValue;
  readonly state: StateMaps;
  readonly links: readonly LinkReading[];
  /** The path of the control group. */
  readonly controlGroup: string;
  readonly nodeCookie: bigint;
  /** False as soon as other maps serve, and these are closed. */
  isCurrent(): boolean;
}

/** Reads what the maps hold for one service port, and whether the programs are where they should be. */
export async function readBackEbpf(input: ReadBackInput): Promise<KernelReading> {
  const { placed, state, family, nodeCookie } = input;
  const reader = new MapReader(input);
  await reader.left();
  if (placed) await reader.all(placed);
  const pinned =
    placed && input.isCurrent()
      ? await pinnedClients(placed.port, state.get(`affinity${DIGIT[family]}`), nodeCookie)
      : [];
  const isCut = pinned.length > MAX_PINNED_CLIENTS;
  return {
    entries: reader.entries,
    affinity: pinned.slice(0, MAX_PINNED_CLIENTS),
    incomplete: reader.incomplete ?? (isCut ? `the mode read only ${MAX_PINNED_CLIENTS} pinned clients` : undefined),
  };
}

class MapReader {
  readonly entries: KernelEntry[] = [];
  readonly #input: ReadBackInput;
  readonly #budget = new ReadBudget();
  #hasChanged = false;

  constructor(input: ReadBackInput) {
    this.#input = input;
  }

  /** Why the reading is not complete. */
  get incomplete(): string | undefined {
    return this.#hasChanged ? CHANGED_MEANWHILE : this.#budget.spent;
  }

  async all(placed: PlacedPort): Promise<void> {
    this.#links();
    await this.#frontends(placed);
    for (const pool of placed.pools.values()) await this.#pool(pool, placed.port.affinitySeconds > 0);
    if (placed.port.targets.some(({ ip }) => ip === undefined)) await this.#nodeAddresses();
  }

  /** Frontends that only the network may have. */
  async left(): Promise<void> {
    const { family, left } = this.#input;
    const map = this.#map('frontends');
    for (const { ip, port } of left) {
      if (!(await this.#mayRead())) return;
      const found = map?.lookup(frontendKey({ family, ip, port }));
      if (found) this.#add(map, undefined, targetLine({ ip, port }, decodeTarget(found)));
    }
  }

  /** A sync may replace the maps during a break. */
  async #mayRead(): Promise<boolean> {
    const hasBudget = await this.#budget.spend();
    this.#hasChanged ||= !this.#input.isCurrent();
    return hasBudget && !this.#hasChanged;
  }

  #links(): void {
    const { links, controlGroup } = this.#input;
    const place = `control group ${controlGroup}`;
    for (const { hook, problem } of links) {
      const wanted = `${hook} : attached`;
      this.entries.push({
        kind: 'link',
        place,
        wanted,
        found: problem === undefined ? wanted : `${hook} : ${problem}`,
      });
    }
  }

  async #frontends(placed: PlacedPort): Promise<void> {
    const { targets } = placed.port;
    const map = this.#map('frontends');
    for (const [i, target] of targets.entries()) {
      if (!(await this.#mayRead())) return;
      const { ip, port } = target;
      const found = map?.lookup(frontendKey({ family: placed.family, ip, port }));
      const counted = i === 0 ? this.#counted(placed.counter) : undefined;
      const wanted = targetLine(target, targetValue(placed, target));
      this.#add(map, wanted, found && targetLine(target, decodeTarget(found)), counted);
    }
  }

  async #pool(pool: PlacedPool, hasMembers: boolean): Promise<void> {
    const { index, endpoints } = pool;
    const run = this.#input.runOf(pool);
    if (!(await this.#mayRead())) return;
    const pools = this.#map('pools');
    const found = pools?.lookup(indexBytes(index));
    this.#add(pools, poolLine(index, run), found && poolLine(index, decodePool(found)));
    const slots = this.#map('slots');
    for (const [i, endpoint] of endpoints.entries()) {
      if (!(await this.#mayRead())) return;
      const at = run.first + i;
      const slot = slots?.lookup(indexBytes(at));
      this.#add(slots, slotLine(at, endpoint), slot && slotLine(at, decodeSlot(slot)));
    }
    if (hasMembers) await this.#members(index, poolMembers(pool));
  }

  /** Session affinity leads a client only to members of its pool. */
  async #members(pool: number, endpoints: readonly SocketEndpoint[]): Promise<void> {
    const map = this.#map('members');
    for (const endpoint of endpoints) {
      if (!(await this.#mayRead())) return;
      const line = memberLine(pool, endpoint);
      this.#add(map, line, map?.lookup(encodeMember({ pool, ...endpoint })) && line);
    }
  }

  async #nodeAddresses(): Promise<void> {
    const map = this.#map('nodeAddresses');
    for (const [ip, kind] of this.#input.nodeAddresses) {
      if (!(await this.#mayRead())) return;
      const found = map?.lookup(nodeAddressKey(ip));
      this.#add(map, nodeAddressLine(ip, kind), found && nodeAddressLine(ip, decodeNodeAddress(found)));
    }
  }

  /** What the programs counted on all processors. */
  #counted(counter: number): number | undefined {
    const found = counter === 0 ? undefined : this.#input.maps.get('counts')?.lookup(indexBytes(counter));
    if (!found) return undefined;
    let sum = 0n;
    for (let at = 0; at < found.length; at += 8) sum += found.readBigUInt64LE(at);
    return Number(sum);
  }

  #map(name: 'frontends' | 'nodeAddresses' | 'members' | 'slots' | 'pools'): BpfMap | undefined {
    const full: MapName = name === 'pools' ? name : `${name}${DIGIT[this.#input.family]}`;
    return this.#input.maps.get(full);
  }

  #add(map: BpfMap | undefined, wanted: string | undefined, found: string | undefined, counted?: number): void {
    const place = `map ${map?.spec.name ?? 'that is missing'}`;
    this.entries.push({ kind: 'element', place, wanted, found, ...(counted !== undefined && { counted }) });
  }
}
