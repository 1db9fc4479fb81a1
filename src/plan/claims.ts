import type { Protocol } from '../api/index.ts';
import type { Problem } from '../lib/problem.ts';
import { ipv4Number, joinHostPort } from '../net/index.ts';
import type { Frontend } from './frontend.ts';

/** A frontend that cannot be had because another Service has the same address and port. */
export interface Conflict {
  readonly frontend: Frontend;
  /** `ns/name` of the Service that has it. */
  readonly owner: string;
}

/** What identifies a frontend's place. Numbers for IPv4, because there are many and they take the least memory. */
type Place = number | string;

const PROTOCOLS: Readonly<Record<Protocol, number>> = { TCP: 0, UDP: 1, SCTP: 2 };

/**
 * Which Services want which address and port. Only one can have it: a cluster IP outweighs other addresses, so that
 * nobody takes over another's Service by naming its cluster IP as an external one; among equals the first by name.
 */
export class Claims {
  readonly #claimants = new Map<Place, string | readonly string[]>();

  /** Notes the claim, and returns the other Services that want the same; usually none. */
  add(service: string, frontend: Frontend, protocol: Protocol): readonly string[] {
    const place = placeOf(frontend, protocol);
    const known = this.#claimants.get(place);
    if (known === undefined || known === service) {
      if (known === undefined) this.#claimants.set(place, service);
      return NOBODY;
    }
    const others = listOf(known).filter(other => other !== service);
    this.#claimants.set(place, [...others, service]);
    return others;
  }

  remove(service: string, frontend: Frontend, protocol: Protocol): void {
    const place = placeOf(frontend, protocol);
    const left = listOf(this.#claimants.get(place)).filter(other => other !== service);
    const [only] = left;
    if (only === undefined) this.#claimants.delete(place);
    else this.#claimants.set(place, left.length === 1 ? only : left);
  }

  /** The other Services that want the same; usually none. */
  rivals(service: string, frontend: Frontend, protocol: Protocol): readonly string[] {
    const known = this.#claimants.get(placeOf(frontend, protocol));
    if (known === undefined || known === service) return NOBODY;
    return listOf(known).filter(other => other !== service);
  }
}

const NOBODY: readonly string[] = Object.freeze([]);

function listOf(claimants: string | readonly string[] | undefined): readonly string[] {
  if (claimants === undefined) return NOBODY;
  return typeof claimants === 'string' ? [claimants] : claimants;
}

function placeOf({ ip, port }: Frontend, protocol: Protocol): Place {
  const number = PROTOCOLS[protocol];
  if (ip === undefined) return `${number} ${port}`;
  const v4 = ipv4Number(ip);
  return v4 === undefined ? `${number} ${ip} ${port}` : (v4 * 0x10000 + port) * 4 + number;
}

/** Conflicts in words, for those whom they concern. */
export function conflictProblems(
  plans: Iterable<{ readonly service: string; readonly conflicts: readonly Conflict[] }>,
): readonly Problem[] {
  return Array.from(plans, ({ service, conflicts }) => conflicts.map(conflict => problemOf(service, conflict))).flat();
}

function problemOf(service: string, { frontend: { kind, ip, port }, owner }: Conflict): Problem {
  const place = ip === undefined ? `node port ${port}` : `${kind} ${joinHostPort(ip, port)}`;
  const message = `${place} belongs to Service ${owner}, which wants it too; change one of them`;
  return { object: `Service ${service}`, message };
}

/** Whether a claim by the first outweighs one by the second. */
export function outweighs(
  a: { readonly service: string; readonly kind: Frontend['kind'] },
  b: { readonly service: string; readonly kind: Frontend['kind'] },
): boolean {
  const rank = (kind: Frontend['kind']) => (kind === 'ClusterIP' ? 0 : 1);
  return rank(a.kind) !== rank(b.kind) ? rank(a.kind) < rank(b.kind) : a.service < b.service;
}
