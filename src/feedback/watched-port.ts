import { NONE } from '../lib/none.ts';
import type { Endpoint, ServicePort } from '../model/index.ts';
import type { Family } from '../net/index.ts';
import type { LivePort } from '../plan/index.ts';
import { SlowStart } from './slow-start.ts';

/** A service port whose endpoints the proxy watches, because its Service asks for it. */
export class WatchedPort implements LivePort {
  readonly family: Family;
  /** `ns/name` */
  readonly service: string;
  /** As of the last change. */
  endpoints: readonly Endpoint[] = NONE;
  readonly #slowStart = new SlowStart();
  readonly #now: () => number;
  #nextStep: number | undefined;

  constructor(family: Family, service: string, now: () => number) {
    this.family = family;
    this.service = service;
    this.#now = now;
  }

  changed({ traffic }: ServicePort, from: readonly Endpoint[], to: readonly Endpoint[]): void {
    this.endpoints = to;
    const now = this.#now();
    this.#slowStart.changed(traffic.slowStartSeconds, from, to, now);
    this.#nextStep = this.#slowStart.nextStep(now);
  }

  share({ text }: Endpoint): number {
    return this.#slowStart.share(text, this.#now());
  }

  isEjected(): boolean {
    return false;
  }

  /** When a share of slow start changes next. */
  nextStep(): number | undefined {
    return this.#nextStep;
  }

  /** Returns true if the time of a step has come. */
  takeStep(): boolean {
    const now = this.#now();
    if (this.#nextStep === undefined || this.#nextStep > now) return false;
    this.#nextStep = this.#slowStart.nextStep(now);
    return true;
  }
}
