import type { KubeObject } from '../api/index.ts';
import { type Change, latestOf } from '../lib/change.ts';
import { errorText } from '../lib/error-text.ts';
import type { Problem } from '../lib/problem.ts';
import type { ManifestChange } from './collection.ts';
import type { SourceHandlers } from './source.ts';

/** Calls a source's handlers. One that throws is told of as a problem and stops nothing; none is called after close. */
export class Receiver {
  readonly #handlers: SourceHandlers;
  #closed = false;

  constructor(handlers: SourceHandlers) {
    this.#handlers = handlers;
  }

  get closed(): boolean {
    return this.#closed;
  }

  close(): void {
    this.#closed = true;
  }

  changed({ where, key, change }: ManifestChange): void {
    this.#call(where, key, () => handOver(change, this.#handlers));
  }

  problem(problem: Problem): void {
    this.#call(problem.where, problem.object, () => this.#handlers.problem(problem));
  }

  recovered(where: string): void {
    this.#call(where, undefined, () => this.#handlers.recovered?.(where));
  }

  synced(): void {
    this.#call('the first pass', undefined, () => this.#handlers.synced());
  }

  #call(where: string | undefined, object: string | undefined, call: () => void): void {
    if (this.#closed) return;
    try {
      call();
    } catch (error) {
      this.#tellOfFailure({ where, object, message: `could not be taken in: ${errorText(error)}` });
    }
  }

  #tellOfFailure(problem: Problem): void {
    try {
      this.#handlers.problem(problem);
    } catch {
      // Nobody is left to tell.
    }
  }
}

function handOver(change: Change<KubeObject>, handlers: SourceHandlers): void {
  if (isOf('Service', change)) handlers.service(change);
  else if (isOf('EndpointSlice', change)) handlers.endpointSlice(change);
  else if (isOf('Node', change)) handlers.node(change);
  else if (isOf('ServiceCIDR', change)) handlers.serviceCidr(change);
}

type OfKind<K> = Extract<KubeObject, { readonly kind: K }>;

/** Both versions of an updated object have the same kind: it is part of the key. */
function isOf<K extends KubeObject['kind']>(kind: K, change: Change<KubeObject>): change is Change<OfKind<K>> {
  return latestOf(change).kind === kind;
}
