import type { KubeObject } from '../api/index.ts';
import { type Change, latestOf } from '../lib/change.ts';
import { errorText } from '../lib/error-text.ts';
import type { Problem } from '../lib/problem.ts';
import type { ManifestChange } from './manifest-collection.ts';
import type { SourceHandlers } from './source.ts';

/**
 * Calls the handlers of a source. An error of a handler is reported and stops nothing. After `close`, no call is made.
 */
export class GuardedHandlers {
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
    this.#call(where, key, () => callFor(change, this.#handlers));
  }

  problem(problem: Problem): void {
    this.#call(problem.where, problem.object, () => this.#handlers.problem(problem));
  }

  recovered(where: string): void {
    this.#call(where, undefined, () => this.#handlers.recovered?.(where));
  }

  synced(): void {
    this.#call('the first scan', undefined, () => this.#handlers.synced());
  }

  #call(where: string | undefined, object: string | undefined, call: () => void): void {
    if (this.#closed) return;
    try {
      call();
    } catch (error) {
      this.#reportFailure({
        where,
        object,
        reason: 'internal',
        message: `could not be processed: ${errorText(error)}`,
      });
    }
  }

  #reportFailure(problem: Problem): void {
    try {
      this.#handlers.problem(problem);
    } catch {
      // There is no other place to report it to.
    }
  }
}

function callFor(change: Change<KubeObject>, handlers: SourceHandlers): void {
  if (isOf('Service', change)) handlers.serviceChanged(change);
  else if (isOf('EndpointSlice', change)) handlers.endpointSliceChanged(change);
  else if (isOf('Node', change)) handlers.nodeChanged(change);
  else if (isOf('ServiceCIDR', change)) handlers.serviceCidrChanged(change);
}

type OfKind<K> = Extract<KubeObject, { readonly kind: K }>;

/** Both versions of an updated object have the same kind, because the kind is part of the key. */
function isOf<K extends KubeObject['kind']>(kind: K, change: Change<KubeObject>): change is Change<OfKind<K>> {
  return latestOf(change).kind === kind;
}
