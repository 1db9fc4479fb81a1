import { BpfLink, BpfMap, BpfProgram, type ProgramSpec } from '../../src/kernel/bpf/index.ts';
import { type NetworkNamespace, namespaceCookie } from '../../src/kernel/netns.ts';
import {
  decodePeer,
  type Endpoint,
  encodeLease,
  encodeMember,
  encodeNodeAddress,
  encodePool,
  encodeSlot,
  encodeTarget,
  frontendKey,
  type MapName,
  MEMBER_VALUE,
  mapSpec,
  type NodeAddressKind,
  nodeAddressKey,
  type PeerValue,
  type ProgramOptions,
  socketPrograms,
  type TargetValue,
} from '../../src/modes/ebpf/programs/index.ts';
import { FAMILIES, type Family, familyOf, type Ip } from '../../src/net/index.ts';
import { testControlGroup, withControlGroup } from './bpf-lab.ts';
import type { TestSocket } from './test-socket.ts';

const ENTRIES = 64;
/** These outlive a generation. */
const STATE: readonly string[] = ['peers', 'affinity4', 'affinity6', 'active4', 'active6'];
const ZERO = Buffer.alloc(4);
const NEVER_ENDS = 2n ** 63n;

export interface ProgrammedOptions extends Partial<ProgramOptions> {
  /** The namespaces whose sockets are translated. */
  readonly serves?: readonly NetworkNamespace[];
  readonly controlGroup?: string;
  /** The programs to attach. By default those of the mode. */
  readonly programs?: (options: ProgramOptions) => readonly ProgramSpec[];
}

/** The programs of ebpf mode, attached to a control group, with maps that a test writes itself. */
export class ProgrammedSockets {
  readonly #maps = new Map<string, BpfMap>();
  readonly #links: BpfLink[] = [];
  readonly #options: ProgramOptions;
  readonly #serves: readonly NetworkNamespace[];
  readonly #programs: (options: ProgramOptions) => readonly ProgramSpec[];
  #pools = 0;
  #slots: Record<Family, number> = { IPv4: 0, IPv6: 0 };

  constructor(settings: ProgrammedOptions = {}) {
    const { serves = [], controlGroup = testControlGroup(), programs: made = socketPrograms, ...options } = settings;
    const everything = { hasAffinity: true, hasLeastConnections: true, countsConnections: true, canRefuse: true };
    this.#serves = serves;
    this.#programs = made;
    this.#options = { nodeCookie: 0n, scope: 'listed', ...everything, ...options };
    try {
      const programs = this.#load();
      withControlGroup(controlGroup, group => {
        for (const program of programs) this.#links.push(BpfLink.create(program, group));
      });
      for (const program of programs) program.close();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Makes a new generation: new maps of Services, new programs in the same links. */
  replace(): void {
    for (const [name, map] of this.#maps) {
      if (STATE.includes(name)) continue;
      map.close();
      this.#maps.delete(name);
    }
    this.#pools = 0;
    this.#slots = { IPv4: 0, IPv6: 0 };
    for (const [i, program] of this.#load().entries()) {
      this.#links[i]?.update(program);
      program.close();
    }
  }

  /** Returns the number of the pool. */
  addPool(endpoints: readonly Endpoint[]): number {
    const pool = this.#pools++;
    this.setPool(pool, endpoints);
    return pool;
  }

  /** All endpoints have one family. */
  setPool(pool: number, endpoints: readonly Endpoint[]): void {
    const family = familyOf(endpoints[0]?.ip ?? ('0.0.0.0' as Ip));
    const first = this.#slots[family];
    this.#slots[family] += endpoints.length;
    for (const [i, endpoint] of endpoints.entries()) {
      this.#map(`slots${digit(family)}`).update(index(first + i), encodeSlot(endpoint));
    }
    this.map('pools').update(index(pool), encodePool({ first, count: endpoints.length }));
  }

  /** The pool's endpoints, for affinity. */
  setMembers(pool: number, added: readonly Endpoint[], removed: readonly Endpoint[] = []): void {
    for (const { ip, port } of added) {
      this.#map(`members${digit(familyOf(ip))}`).update(encodeMember({ pool, ip, port }), MEMBER_VALUE);
    }
    for (const { ip, port } of removed) {
      this.#map(`members${digit(familyOf(ip))}`).remove(encodeMember({ pool, ip, port }));
    }
  }

  setTarget(ip: Ip, port: number, target: Partial<TargetValue>): void {
    const family = familyOf(ip);
    this.#map(`frontends${digit(family)}`).update(frontendKey({ family, ip, port }), encodeTarget(whole(target)));
  }

  removeTarget(ip: Ip, port: number): void {
    const family = familyOf(ip);
    this.#map(`frontends${digit(family)}`).remove(frontendKey({ family, ip, port }));
  }

  setNodePort(family: Family, port: number, target: Partial<TargetValue>): void {
    const key = frontendKey({ family, ip: undefined, port });
    this.#map(`frontends${digit(family)}`).update(key, encodeTarget(whole(target)));
  }

  addNodeAddress(ip: Ip, kind: NodeAddressKind = 'any'): void {
    this.#map(`nodeAddresses${digit(familyOf(ip))}`).update(nodeAddressKey(ip), encodeNodeAddress(kind));
  }

  /** From now on connections to the endpoint are counted, for least connections. */
  countEndpoint({ ip, port }: Endpoint, count = 0): void {
    this.#map(`active${digit(familyOf(ip))}`).update(encodeSlot({ ip, port }), index(count));
  }

  /** How many connections to the endpoint are counted now. */
  activeOf({ ip, port }: Endpoint): number | undefined {
    return this.#map(`active${digit(familyOf(ip))}`)
      .lookup(encodeSlot({ ip, port }))
      ?.readInt32LE();
  }

  /** The sum of all processors. */
  countOf(counter: number): number {
    const bytes = this.map('counts').lookup(index(counter)) ?? Buffer.alloc(0);
    let sum = 0;
    for (let at = 0; at < bytes.length; at += 8) sum += Number(bytes.readBigUInt64LE(at));
    return sum;
  }

  /** Until when the programs serve, by the kernel's monotonic clock. */
  setLease(until: bigint): void {
    this.map('lease').update(index(0), encodeLease(until));
  }

  stopServing(namespace: NetworkNamespace): void {
    this.map('namespaces').remove(namespaceKey(namespace));
  }

  /** What a socket remembers. */
  peerOf({ fd }: TestSocket): PeerValue | undefined {
    const bytes = this.map('peers').lookup(index(fd));
    return bytes && decodePeer(bytes);
  }

  map(name: MapName): BpfMap {
    return this.#map(name);
  }

  close(): void {
    for (const link of this.#links) link.close();
    for (const map of this.#maps.values()) map.close();
  }

  #load(): readonly BpfProgram[] {
    const programs = this.#programs(this.#options).map(spec => BpfProgram.load(spec, name => this.#map(name).fd));
    for (const namespace of this.#serves) this.map('namespaces').update(namespaceKey(namespace), ZERO);
    this.setLease(NEVER_ENDS);
    return programs;
  }

  #map(name: string): BpfMap {
    const map = this.#maps.get(name) ?? BpfMap.create(mapSpec(name as MapName, ENTRIES));
    this.#maps.set(name, map);
    return map;
  }
}

function whole(target: Partial<TargetValue>): TargetValue {
  return { pool: 0, flags: 0, affinitySeconds: 0, counter: 0, identity: 0n, ...target };
}

function namespaceKey(namespace: NetworkNamespace): Buffer {
  const key = Buffer.alloc(8);
  key.writeBigUInt64LE(namespaceCookie(namespace));
  return key;
}

function digit(family: Family): string {
  return FAMILIES.indexOf(family) === 0 ? '4' : '6';
}

function index(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
