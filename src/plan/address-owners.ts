import type { Protocol } from '../api/index.ts';
import { NONE } from '../lib/none.ts';
import type { Problem } from '../lib/problem.ts';
import { ipv4Number, joinHostPort } from '../net/index.ts';
import type { Frontend } from './frontend.ts';

/** A frontend that a Service cannot have, because another Service has the same address and port. */
export interface Conflict {
  readonly frontend: Frontend;
  /** `ns/name` of the Service that has it. */
  readonly owner: string;
}

/**
 * Identifies an address and port. It is a number for IPv4, because there are many and a number takes the least memory.
 */
type AddressId = number | string;

const PROTOCOLS: Readonly<Record<Protocol, number>> = { TCP: 0, UDP: 1, SCTP: 2 };

/**
 * The Services that want each address and port. Only one of them can own it, see `isBetterOwner`. Services are named
 * `ns/name`.
 */
export class AddressOwners {
  /** A text for the usual single candidate, to save memory. */
  readonly #candidates = new Map<AddressId, string | readonly string[]>();

  /** Returns the other candidates. Usually there are none. */
  addCandidate(service: string, frontend: Frontend, protocol: Protocol): readonly string[] {
    const id = addressId(frontend, protocol);
    const known = this.#candidates.get(id);
    if (known === undefined) this.#candidates.set(id, service);
    if (known === undefined || known === service) return NONE;
    const others = asList(known).filter(other => other !== service);
    this.#candidates.set(id, [...others, service]);
    return others;
  }

  removeCandidate(service: string, frontend: Frontend, protocol: Protocol): void {
    const id = addressId(frontend, protocol);
    const left = asList(this.#candidates.get(id)).filter(other => other !== service);
    const [first] = left;
    if (first === undefined) this.#candidates.delete(id);
    else this.#candidates.set(id, left.length === 1 ? first : left);
  }

  /** `ns/name` of the Services that want the address and port. `ip` is undefined for a node port. */
  candidatesFor(address: Pick<Frontend, 'ip' | 'port'>, protocol: Protocol): readonly string[] {
    return asList(this.#candidates.get(addressId(address, protocol)));
  }

  otherCandidates(service: string, frontend: Frontend, protocol: Protocol): readonly string[] {
    const known = this.#candidates.get(addressId(frontend, protocol));
    if (known === undefined || known === service) return NONE;
    return asList(known).filter(other => other !== service);
  }
}

function asList(candidates: string | readonly string[] | undefined): readonly string[] {
  if (candidates === undefined) return NONE;
  return typeof candidates === 'string' ? [candidates] : candidates;
}

function addressId({ ip, port }: Pick<Frontend, 'ip' | 'port'>, protocol: Protocol): AddressId {
  const number = PROTOCOLS[protocol];
  if (ip === undefined) return `${number} ${port}`;
  const v4 = ipv4Number(ip);
  return v4 === undefined ? `${number} ${ip} ${port}` : (v4 * 0x10000 + port) * 4 + number;
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
