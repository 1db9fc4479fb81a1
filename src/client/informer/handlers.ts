import type { KubeObject } from '../../api/index.ts';
import { errorText } from '../../lib/error-text.ts';
import type { InformerReport } from './report.ts';
import { objectPath, objectTitle, type Resource } from './resource.ts';

/** Who wants to hear of the objects of a resource. Calls come one at a time, in the order of the changes. */
export interface InformerHandler<T> {
  added?(object: T): void;
  /** `old` is `object` itself when all is told again, as it is now and then. */
  updated?(old: T, object: T): void;
  /** As it was last. */
  deleted?(object: T): void;
  /** Every object that existed at the start has been told. Called once. */
  synced?(): void;
}

/** Calls handlers. One that throws is told of as a problem, and stops neither the others nor the watch. */
export class Handlers<T extends KubeObject> {
  readonly #resource: Resource<T>;
  readonly #report: InformerReport;
  readonly #handlers = new Set<InformerHandler<T>>();
  #closed = false;

  constructor(resource: Resource<T>, report: InformerReport) {
    this.#resource = resource;
    this.#report = report;
  }

  add(handler: InformerHandler<T>, present: Iterable<T>, hasSynced: boolean): () => void {
    for (const object of present) this.#call(object, () => handler.added?.(object));
    this.#handlers.add(handler);
    if (hasSynced) this.#call(undefined, () => handler.synced?.());
    return () => this.#handlers.delete(handler);
  }

  close(): void {
    this.#closed = true;
  }

  added(object: T): void {
    for (const handler of this.#handlers) this.#call(object, () => handler.added?.(object));
  }

  updated(old: T, object: T): void {
    for (const handler of this.#handlers) this.#call(object, () => handler.updated?.(old, object));
  }

  deleted(object: T): void {
    for (const handler of this.#handlers) this.#call(object, () => handler.deleted?.(object));
  }

  synced(): void {
    for (const handler of this.#handlers) this.#call(undefined, () => handler.synced?.());
  }

  #call(object: T | undefined, call: () => void): void {
    if (this.#closed) return;
    try {
      call();
    } catch (error) {
      this.#report.unusable({
        where: object ? objectPath(this.#resource, object.metadata) : this.#resource.path,
        object: object && objectTitle(this.#resource, object.metadata),
        message: `could not be taken in: ${errorText(error)}`,
      });
    }
  }
}
