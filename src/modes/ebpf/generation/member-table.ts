import type { BpfMap, Entries } from '../../../kernel/bpf/index.ts';
import type { Breaks } from '../../../lib/breaks.ts';
import type { Family } from '../../../net/index.ts';
import { MEMBER_BYTES, MEMBER_VALUE, writeMember } from '../programs/index.ts';
import { poolMembers } from '../render.ts';
import type { Usage } from './capacity.ts';
import { CountedMap } from './counted-map.ts';
import { mapDifference, parts } from './map-difference.ts';
import type { PlacedPort } from './placed-port.ts';

interface Member {
  readonly pool: number;
  readonly ip: PlacedPort['pools'][number]['endpoints'][number]['ip'];
  readonly port: number;
}

/** The endpoints of pools with session affinity, in one family. */
export class MemberTable {
  readonly #family: Family;
  readonly #counted: CountedMap;

  constructor(family: Family, map: BpfMap) {
    this.#family = family;
    this.#counted = new CountedMap(map);
  }

  get usage(): Usage {
    return this.#counted.usage;
  }

  hasRoom(added: number): boolean {
    return this.#counted.hasRoom(added);
  }

  /** Adds the endpoints that service ports have and their former versions have not. */
  add(ports: readonly PlacedPort[], formerOf: (port: PlacedPort) => PlacedPort | undefined): void {
    const added = ports.flatMap(port =>
      port.port.affinitySeconds > 0 ? without(membersOf(port), formerOf(port)) : [],
    );
    this.#counted.update(this.#keys(added), valuesFor(added.length), added.length);
  }

  /** Removes the endpoints that the service port no longer has. */
  remove(from: PlacedPort, to: PlacedPort | undefined): void {
    const removed = without(membersOf(from), to);
    this.#counted.remove(this.#keys(removed), removed.length);
  }

  /** How the kernel's map differs from the endpoints of these service ports, in words. */
  async difference(ports: Iterable<PlacedPort>, breaks: Breaks): Promise<string | undefined> {
    return await mapDifference(this.#counted.map, this.#wanted(ports), breaks);
  }

  *#wanted(ports: Iterable<PlacedPort>): Generator<Entries> {
    for (const part of parts(ports)) {
      const members = part.flatMap(membersOf);
      yield { keys: this.#keys(members), values: valuesFor(members.length) };
    }
  }

  #keys(members: readonly Member[]): Buffer {
    const size = MEMBER_BYTES[this.#family];
    const keys = Buffer.alloc(members.length * size);
    for (const [i, member] of members.entries()) writeMember(member, keys, i * size);
    return keys;
  }
}

function membersOf({ port, pools }: PlacedPort): Member[] {
  if (port.affinitySeconds === 0) return [];
  return pools.flatMap(pool =>
    poolMembers(pool).map(({ ip, port: number }) => ({ pool: pool.index, ip, port: number })),
  );
}

function without(members: readonly Member[], other: PlacedPort | undefined): readonly Member[] {
  if (!other) return members;
  const text = ({ pool, ip, port }: Member) => `${pool} ${ip} ${port}`;
  const others = new Set(membersOf(other).map(text));
  return members.filter(member => !others.has(text(member)));
}

function valuesFor(count: number): Buffer {
  return Buffer.alloc(count * MEMBER_VALUE.length, MEMBER_VALUE);
}
