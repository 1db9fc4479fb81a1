import type { Ip } from '../../../net/index.ts';
import type { PlacedPool } from '../generation/pool-table.ts';
import { targetValue } from '../generation/target-value.ts';
import type { TargetValue } from '../programs/index.ts';
import type { NodeAddressKind, SocketEndpoint, SocketPort } from '../render.ts';
import { endpointName, frontendName, nodeAddressLine, poolName, targetLine } from './map-texts.ts';

/** What the maps of one family hold, by the text of its key: `10.96.0.10:80`. */
export interface SocketTable {
  readonly targets: ReadonlyMap<string, Target>;
  /** The endpoints of each pool that a target names, by the number of the pool. */
  readonly pools: ReadonlyMap<number, readonly SocketEndpoint[]>;
  readonly nodeAddresses: ReadonlyMap<Ip, NodeAddressKind>;
}

interface Target {
  readonly ip: Ip | undefined;
  readonly port: number;
  readonly value: TargetValue;
}

/** A table that is not in the kernel, and the names of its pools: `default/web:http/TCP cluster`. */
export interface WantedTable extends SocketTable {
  readonly poolNames: ReadonlyMap<number, string>;
}

/** The table that service ports ask for. Its numbers of pools mean nothing in the kernel. */
export function wantedTable(
  ports: readonly SocketPort[],
  nodeAddresses: ReadonlyMap<Ip, NodeAddressKind>,
): WantedTable {
  const targets = new Map<string, Target>();
  const pools = new Map<number, readonly SocketEndpoint[]>();
  const poolNames = new Map<number, string>();
  for (const port of ports) {
    const placed: PlacedPool[] = [];
    for (const { name, endpoints } of port.pools) {
      const index = pools.size + 1;
      pools.set(index, endpoints);
      poolNames.set(index, `${port.id} ${name}`);
      placed.push({ name, index, endpoints });
    }
    for (const target of port.targets) {
      const value = targetValue({ port, pools: placed, counter: 0 }, target);
      targets.set(frontendName(target), { ip: target.ip, port: target.port, value });
    }
  }
  return { targets, pools, nodeAddresses, poolNames };
}

/**
 * The names of the pools that the kernel has: a frontend leads to them whose pool has that name in the wanted table. The
 * kernel keeps numbers only.
 */
export function foundPoolNames(found: SocketTable, wanted: WantedTable): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  for (const [key, { value }] of wanted.targets) {
    const pool = found.targets.get(key)?.value.pool;
    const name = wanted.poolNames.get(value.pool);
    if (pool !== undefined && pool !== 0 && name !== undefined && !names.has(pool)) names.set(pool, name);
  }
  return names;
}

/** One line for each frontend, pool and address. Equal tables have equal lines, whatever the numbers of their pools. */
export function tableLines(table: SocketTable, poolNames: ReadonlyMap<number, string>): readonly string[] {
  const nameOf = (pool: number) => poolNames.get(pool) ?? poolName(pool);
  const targets = [...table.targets.values()];
  // Targets without endpoints name pool 0.
  const used = new Set(targets.map(({ value }) => value.pool).filter(pool => pool !== 0));
  return [
    ...targets.map(target => `frontend ${targetLine(target, target.value, nameOf)}`),
    ...Array.from(used, pool => `endpoints of ${nameOf(pool)} : ${endpointsText(table.pools.get(pool) ?? [])}`),
    ...Array.from(table.nodeAddresses, ([ip, kind]) => `node address ${nodeAddressLine(ip, kind)}`),
  ];
}

/** Chance decides among endpoints, so their order means nothing. */
function endpointsText(endpoints: readonly SocketEndpoint[]): string {
  const slots = new Map<string, number>();
  for (const name of endpoints.map(endpointName).sort()) slots.set(name, (slots.get(name) ?? 0) + 1);
  return Array.from(slots, ([name, count]) => (count === 1 ? name : `${name} (${count} slots)`)).join(' ') || 'none';
}
