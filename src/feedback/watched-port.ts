import { NONE } from '../lib/none.ts';
import { sameMap } from '../lib/same-map.ts';
import type { Algorithm, Endpoint, ServicePort } from '../model/index.ts';
import type { Family } from '../net/index.ts';
import type { LivePort } from '../plan/index.ts';
import { Ejections } from './ejections.ts';
import { Leveling } from './leveling.ts';
import { SlowStart } from './slow-start.ts';

/** A service port whose endpoints the proxy watches, because its Service asks for it. */
export class WatchedPort implements LivePort {
  readonly family: Family;
  /** `ns/name` */
  readonly service: string;
  /** The id of the plan. */
  readonly id: string;
  /** The name of the port; empty if it has none. */
  readonly name: string;
  readonly protocol: ServicePort['protocol'];
  /** Undefined: the mode chooses as it does without a choice of the Service. */
  algorithm: Algorithm | undefined;
  /** All endpoints as of the last change, usable or not. */
  endpoints: readonly Endpoint[] = NONE;
  readonly ejections = new Ejections();
  readonly leveling = new Leveling();
  /** After how many failed connections in a row an endpoint is left out. 0: never. */
  ejectAfter = 0;
  readonly #slowStart = new SlowStart();
  readonly #now: () => number;
  #nextStep: number | undefined;
  /** By text of the endpoint. They contain the shares of slow start. */
  #levelShares: ReadonlyMap<string, number> | undefined;

  constructor(family: Family, service: string, id: string, { name, protocol }: ServicePort, now: () => number) {
    this.family = family;
    this.service = service;
    this.id = id;
    this.name = name;
    this.protocol = protocol;
    this.#now = now;
  }

  changed(
    { options }: ServicePort,
    algorithm: Algorithm | undefined,
    from: readonly Endpoint[],
    to: readonly Endpoint[],
  ): void {
    this.algorithm = algorithm;
    this.endpoints = to;
    if (algorithm !== 'least-connections') this.#levelShares = undefined;
    this.ejectAfter = this.protocol === 'TCP' ? options.ejectAfter : 0;
    this.ejections.changed(this.ejectAfter, to);
    const now = this.#now();
    this.#slowStart.changed(options.slowStartSeconds, from, to, now);
    this.#nextStep = this.#slowStart.nextStep(now);
  }

  share({ text }: Endpoint): number {
    return this.#levelShares?.get(text) ?? this.startShare(text);
  }

  /** The share of slow start. */
  startShare(text: string): number {
    return this.#slowStart.share(text, this.#now());
  }

  isInSlowStart({ text }: Endpoint): boolean {
    return this.startShare(text) < 1;
  }

  isEjected({ text }: Endpoint): boolean {
    return this.ejections.isEjected(text);
  }

  /** Returns true if a share is another one now. */
  setLevelShares(shares: ReadonlyMap<string, number>): boolean {
    const isUsual = Array.from(shares).every(([text, share]) => share === this.startShare(text));
    const next = isUsual ? undefined : shares;
    if (sameMap(this.#levelShares, next)) return false;
    this.#levelShares = next;
    return true;
  }

  /** When a share of slow start changes next, or an endpoint is used again. */
  nextStep(): number | undefined {
    const next = this.ejections.nextReturn();
    return next === undefined || this.#nextStep === undefined
      ? (next ?? this.#nextStep)
      : Math.min(next, this.#nextStep);
  }

  /** Returns the endpoints that were left out and are used again from now on. */
  takeReturns(): readonly string[] {
    return this.ejections.takeReturns(this.#now());
  }

  /** Returns true if the time of a step of slow start has come. */
  takeStep(): boolean {
    const now = this.#now();
    if (this.#nextStep === undefined || this.#nextStep > now) return false;
    this.#nextStep = this.#slowStart.nextStep(now);
    return true;
  }
}
