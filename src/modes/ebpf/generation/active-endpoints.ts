import type { BpfMap } from '../../../kernel/bpf/index.ts';
import { KernelError } from '../../../kernel/errors.ts';
import { FAMILIES } from '../../../net/index.ts';
import { encodeSlot } from '../programs/index.ts';
import { poolMembers } from '../render.ts';
import { DIGIT } from './capacity.ts';
import type { StateMaps } from './maps.ts';
import type { PlacedPort } from './placed-port.ts';

const NO_CONNECTIONS = Buffer.alloc(4);

/** The endpoints whose connections programs count, for least connections. Programs count only where there is an entry. */
export class ActiveEndpoints {
  readonly #maps: StateMaps;

  constructor(maps: StateMaps) {
    this.#maps = maps;
  }

  /**
   * A count that exists stays: sockets that are open count themselves off later. Endpoints for which there is no room
   * are not counted.
   */
  add({ family, pools }: PlacedPort): void {
    const map = this.#maps.get(`active${DIGIT[family]}`);
    if (!map) return;
    try {
      for (const pool of pools) for (const endpoint of poolMembers(pool)) addMissing(map, encodeSlot(endpoint));
    } catch (error) {
      if (!(error instanceof KernelError && error.errno === 'E2BIG')) throw error;
    }
  }

  /** Removes endpoints that no service port has and that have no connections. */
  sweep(ports: Iterable<PlacedPort>): void {
    const wanted = new Set<string>();
    for (const { port, pools } of ports) {
      if (!port.isLeastConnections) continue;
      for (const pool of pools) {
        for (const endpoint of poolMembers(pool)) wanted.add(encodeSlot(endpoint).toString('latin1'));
      }
    }
    for (const family of FAMILIES) {
      const map = this.#maps.get(`active${DIGIT[family]}`);
      if (!map) continue;
      const { keys, values } = map.entries();
      const { keyBytes } = map.spec;
      for (let i = 0; i < keys.length / keyBytes; i++) {
        const key = keys.subarray(i * keyBytes, (i + 1) * keyBytes);
        if (!wanted.has(key.toString('latin1')) && values.readUInt32LE(i * 4) === 0) map.remove(key);
      }
    }
  }
}

function addMissing(map: BpfMap, key: Buffer): void {
  if (!map.lookup(key)) map.update(key, NO_CONNECTIONS);
}
