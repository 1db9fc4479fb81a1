import type { KubeObject } from '../../api/index.ts';
import { type Change, latestOf } from '../../lib/change.ts';
import { errorText } from '../../lib/error-text.ts';
import type { InformerReporter } from './reporter.ts';
import { objectPath, objectTitle, type Resource } from './resource.ts';

/** Receives the changes of the objects of one resource. Calls come one at a time, in the order of the changes. */
export interface InformerHandler<T> {
  /** A resync delivers every object again, as an update whose `from` and `to` are the same object. */
  changed?(change: Change<T>): void;
  /** The handler has received every object that existed at the start. The informer calls this once. */
  synced?(): void;
}

/** Calls all handlers. A handler that throws is reported as a problem. The other handlers and the watch go on. */
export class Handlers<T extends KubeObject> {
  readonly #resource: Resource<T>;
  readonly #reporter: InformerReporter;
  readonly #handlers = new Set<InformerHandler<T>>();
  #closed = false;

  constructor(resource: Resource<T>, reporter: InformerReporter) {
    this.#resource = resource;
    this.#reporter = reporter;
  }

  /** Returns a function that removes the handler. */
  add(handler: InformerHandler<T>, present: Iterable<T>, hasSynced: boolean): () => void {
    for (const to of present) this.#call(to, () => handler.changed?.({ type: 'added', to }));
    this.#handlers.add(handler);
    if (hasSynced) this.#call(undefined, () => handler.synced?.());
    return () => this.#handlers.delete(handler);
  }

  close(): void {
    this.#closed = true;
  }

  changed(change: Change<T>): void {
    const object = latestOf(change);
    for (const handler of this.#handlers) this.#call(object, () => handler.changed?.(change));
  }

  synced(): void {
    for (const handler of this.#handlers) this.#call(undefined, () => handler.synced?.());
  }

  #call(object: T | undefined, call: () => void): void {
    if (this.#closed) return;
    try {
      call();
    } catch (error) {
      this.#reporter.objectUnusable({
        where: object ? objectPath(this.#resource, object.metadata) : this.#resource.path,
        kind: this.#resource.kind,
        reason: 'internal',
        object: object && objectTitle(this.#resource, object.metadata),
        message: `could not be processed: ${errorText(error)}`,
      });
    }
  }
}
