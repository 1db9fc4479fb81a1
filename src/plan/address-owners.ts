import type { Protocol } from '../api/index.ts';
import { NONE } from '../lib/none.ts';
import type { Problem } from '../lib/problem.ts';
import { type Ip, ipv4Number, joinHostPort } from '../net/index.ts';
import type { Frontend } from './frontend.ts';

/** A frontend that a Service cannot have, because another Service has the same address and port. */
export interface Conflict {
  readonly frontend: Frontend;
  /** `ns/name` of the Service that has it. */
  readonly owner: string;
}

/**
 * Identifies an address and port, or an address. It is a number for IPv4, because there are many and a number takes the least memory.
 */
type AddressId = number | string;

const PROTOCOLS: Readonly<Record<Protocol, number>> = { TCP: 0, UDP: 1, SCTP: 2 };

/**
 * The Services that want each address and port. Only one of them can own it, see `isBetterOwner`. Services are named
 * `ns/name`.
 */
export class AddressOwners {
  readonly #candidates = new Candidates();
  /** By address alone, whatever the port. */
  readonly #byIP = new Candidates();

  /** Returns the other candidates. Usually there are none. */
  addCandidate(service: string, frontend: Frontend, protocol: Protocol): readonly string[] {
    const ip = ipId(frontend.ip);
    if (ip !== undefined) this.#byIP.add(ip, service);
    return this.#candidates.add(addressId(ip, frontend.port, protocol), service);
  }

  /** A Service that gives up one frontend gives up all, and then wants those that it still has again. */
  removeCandidate(service: string, frontend: Frontend, protocol: Protocol): void {
    const ip = ipId(frontend.ip);
    if (ip !== undefined) this.#byIP.remove(ip, service);
    this.#candidates.remove(addressId(ip, frontend.port, protocol), service);
  }

  /** `ns/name` of the Services that want the address and port. `ip` is undefined for a node port. */
  candidatesFor(ip: Ip | undefined, port: number, protocol: Protocol): readonly string[] {
    return this.#candidates.get(addressId(ipId(ip), port, protocol));
  }

  /** `ns/name` of the Services that want the address at any port. */
  candidatesAt(ip: Ip): readonly string[] {
    return this.#byIP.get(ipId(ip) ?? ip);
  }

  otherCandidates(service: string, frontend: Frontend, protocol: Protocol): readonly string[] {
    return this.#candidates.others(addressId(ipId(frontend.ip), frontend.port, protocol), service);
  }
}

/** Lists of Services. Most have one Service, which is a text without a list to save memory. */
class Candidates {
  readonly #lists = new Map<AddressId, string | readonly string[]>();

  get(id: AddressId): readonly string[] {
    return asList(this.#lists.get(id));
  }

  others(id: AddressId, service: string): readonly string[] {
    const known = this.#lists.get(id);
    if (known === undefined || known === service) return NONE;
    return asList(known).filter(other => other !== service);
  }

  /** Returns the other Services. */
  add(id: AddressId, service: string): readonly string[] {
    const known = this.#lists.get(id);
    if (known === undefined) this.#lists.set(id, service);
    if (known === undefined || known === service) return NONE;
    const others = asList(known).filter(other => other !== service);
    this.#lists.set(id, [...others, service]);
    return others;
  }

  remove(id: AddressId, service: string): void {
    const left = asList(this.#lists.get(id)).filter(other => other !== service);
    const [first] = left;
    if (first === undefined) this.#lists.delete(id);
    else this.#lists.set(id, left.length === 1 ? first : left);
  }
}

function asList(candidates: string | readonly string[] | undefined): readonly string[] {
  if (candidates === undefined) return NONE;
  return typeof candidates === 'string' ? [candidates] : candidates;
}

/** Undefined for a node port, which has no address. */
function ipId(ip: Ip | undefined): AddressId | undefined {
  return ip === undefined ? undefined : (ipv4Number(ip) ?? ip);
}

function addressId(ip: AddressId | undefined, port: number, protocol: Protocol): AddressId {
  const number = PROTOCOLS[protocol];
  if (typeof ip === 'number') return (ip * 0x10000 + port) * 4 + number;
  return ip === undefined ? `${number} ${port}` : `${number} ${ip} ${port}`;
}

/** A Service that wants an address, and as which kind of frontend. */
export interface OwnerCandidate {
  readonly service: string;
  readonly kind: Frontend['kind'];
}

/**
 * Whether the first candidate owns the address rather than the second. A cluster IP is stronger than other addresses.
 * Otherwise a Service could take the traffic of another one by naming its cluster IP as an external IP. Between equals,
 * the first by name owns it.
 */
export function isBetterOwner(a: OwnerCandidate, b: OwnerCandidate): boolean {
  const isClusterIP = ({ kind }: OwnerCandidate) => kind === 'ClusterIP';
  return isClusterIP(a) !== isClusterIP(b) ? isClusterIP(a) : a.service < b.service;
}

/** One problem for each conflict of the plans. */
export function conflictProblems(
  plans: Iterable<{ readonly service: string; readonly conflicts: readonly Conflict[] }>,
): readonly Problem[] {
  return Array.from(plans, ({ service, conflicts }) => conflicts.map(conflict => problemOf(service, conflict))).flat();
}

function problemOf(service: string, { frontend: { kind, ip, port }, owner }: Conflict): Problem {
  const place = ip === undefined ? `node port ${port}` : `${kind} ${joinHostPort(ip, port)}`;
  const message = `${place} belongs to Service ${owner}, which wants it too; change one of them`;
  return { kind: 'Service', reason: 'conflict', object: `Service ${service}`, message };
}
