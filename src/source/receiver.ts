import type { KubeObject } from '../api/index.ts';
import { errorText } from '../lib/error-text.ts';
import type { Difference } from './collection.ts';
import type { ObjectChange, SourceHandlers, SourceProblem } from './source.ts';

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

  difference(difference: Difference): void {
    this.#call(difference.where, difference.key, () => handOver(difference, this.#handlers));
  }

  problem(problem: SourceProblem): void {
    this.#call(problem.where, problem.object, () => this.#handlers.problem(problem));
  }

  recovered(where: string): void {
    this.#call(where, undefined, () => this.#handlers.recovered?.(where));
  }

  synced(): void {
    this.#call('the first pass', undefined, () => this.#handlers.synced());
  }

  #call(where: string, object: string | undefined, call: () => void): void {
    if (this.#closed) return;
    try {
      call();
    } catch (error) {
      this.#tellOfFailure({ where, object, message: `could not be taken in: ${errorText(error)}` });
    }
  }

  #tellOfFailure(problem: SourceProblem): void {
    try {
      this.#handlers.problem(problem);
    } catch {
      // Nobody is left to tell.
    }
  }
}

function handOver({ old, now }: Difference, handlers: SourceHandlers): void {
  const kind = (now ?? old)?.kind;
  switch (kind) {
    case 'Service':
      send(ofKind(old, kind), ofKind(now, kind), change => handlers.service(change));
      break;
    case 'EndpointSlice':
      send(ofKind(old, kind), ofKind(now, kind), change => handlers.endpointSlice(change));
      break;
    case 'Node':
      send(ofKind(old, kind), ofKind(now, kind), change => handlers.node(change));
      break;
    case 'ServiceCIDR':
      send(ofKind(old, kind), ofKind(now, kind), change => handlers.serviceCidr(change));
      break;
  }
}

type OfKind<K> = Extract<KubeObject, { readonly kind: K }>;

function ofKind<K extends KubeObject['kind']>(object: KubeObject | undefined, kind: K): OfKind<K> | undefined {
  return isOfKind(object, kind) ? object : undefined;
}

function isOfKind<K extends KubeObject['kind']>(object: KubeObject | undefined, kind: K): object is OfKind<K> {
  return object?.kind === kind;
}

function send<T>(old: T | undefined, object: T | undefined, to: (change: ObjectChange<T>) => void): void {
  if (object === undefined) {
    if (old !== undefined) to({ type: 'removed', object: old });
  } else {
    to(old === undefined ? { type: 'added', object } : { type: 'updated', old, object });
  }
}
