import { type DecodeResult, type KubeObject, objectKey } from '../../api/index.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { ApiClient } from '../index.ts';
import { Handlers, type InformerHandler } from './handlers.ts';
import { Reflector } from './reflector.ts';
import type { InformerReport } from './report.ts';
import { isOfResource, type Resource } from './resource.ts';
import { Resync } from './resync.ts';
import { UnusableObjects } from './unusable-objects.ts';

export interface InformerOptions<T extends KubeObject> {
  readonly client: ApiClient;
  readonly resource: Resource<T>;
  /** Content types that are asked for, best first. */
  readonly accept: string;
  readonly report: InformerReport;
  /** How often all objects are told again; 0 or undefined: never. */
  readonly resyncMs?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/** The objects of one resource as they are now, and changes of them for whoever wants to hear. */
export class Informer<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly #report: InformerReport;
  readonly #clock: Clock;
  readonly #objects = new Map<string, T>();
  readonly #handlers: Handlers<T>;
  readonly #unusable: UnusableObjects;
  readonly #reflector: Reflector;
  readonly #resync: Resync<T>;
  /** What a fresh list has brought so far. */
  #listed: Set<string> | undefined;
  #hasSynced = false;
  #lastHeard: number | undefined;

  constructor(options: InformerOptions<T>) {
    const { resource, report, clock = systemClock, random = Math.random } = options;
    this.resource = resource;
    this.#report = report;
    this.#clock = clock;
    this.#handlers = new Handlers(resource, report);
    this.#unusable = new UnusableObjects(resource, report);
    this.#resync = new Resync(this.#objects, this.#handlers, options.resyncMs ?? 0, clock);
    const sink = {
      begin: () => this.#begin(),
      present: (result: DecodeResult) => this.#present(result),
      deleted: (result: DecodeResult) => this.#deleted(result),
      finish: () => this.#finish(),
      missing: () => this.#missing(),
      heard: () => this.#heard(),
    };
    this.#reflector = new Reflector({
      client: options.client,
      resource,
      accept: options.accept,
      sink,
      report,
      clock,
      random,
    });
  }

  /** Objects begin to come. Does nothing if it was started before. */
  start(): void {
    this.#reflector.start();
    this.#resync.start();
  }

  /** The server can be reached again, as others found out: do not wait any longer. */
  hurry(): void {
    this.#reflector.hurry();
  }

  /** No handler is called any more. */
  async close(): Promise<void> {
    this.#handlers.close();
    this.#resync.close();
    await this.#reflector.close();
  }

  /** All objects that existed at the start have come. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** When anything came last, as `Clock.elapsed` counts. */
  get lastHeard(): number | undefined {
    return this.#lastHeard;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** By `namespace/name`; the slash is always there. */
  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  objects(): IterableIterator<T> {
    return this.#objects.values();
  }

  /** One that comes late is told first what is there. Gives a function that takes the handler away. */
  addHandler(handler: InformerHandler<T>): () => void {
    return this.#handlers.add(handler, this.#objects.values(), this.#hasSynced);
  }

  #begin(): void {
    this.#listed = new Set();
  }

  #present(result: DecodeResult): void {
    const to = this.#usable(result);
    if (!to) return;
    const key = objectKey(to.metadata);
    this.#listed?.add(key);
    this.#unusable.forget(key);
    const from = this.#objects.get(key);
    // Most objects of a fresh list are the same as before.
    if (from && isSame(from, to)) return;
    this.#objects.set(key, to);
    this.#handlers.changed(from ? { type: 'updated', from, to } : { type: 'added', to });
  }

  /** The last good version of an object that cannot be used stays. */
  #usable(result: DecodeResult): T | undefined {
    if (result.kind === 'object' && isOfResource(result.object, this.resource)) return result.object;
    const unusable = result.kind === 'object' ? ({ kind: 'ignored', ignored: result.object.kind } as const) : result;
    const key = this.#unusable.note(unusable);
    if (key !== undefined) this.#listed?.add(key);
    return undefined;
  }

  #deleted(result: DecodeResult): void {
    const name = result.kind === 'object' ? result.object.metadata : result.kind === 'problems' && result.subject;
    if (name) this.#remove(objectKey(name));
  }

  #remove(key: string): void {
    this.#listed?.delete(key);
    this.#unusable.forget(key);
    const from = this.#objects.get(key);
    if (!from) return;
    this.#objects.delete(key);
    this.#handlers.changed({ type: 'removed', from });
  }

  #finish(): void {
    const listed = this.#listed;
    this.#listed = undefined;
    if (listed) {
      for (const key of this.#objects.keys()) if (!listed.has(key)) this.#remove(key);
      for (const key of this.#unusable.keys()) if (!listed.has(key)) this.#unusable.forget(key);
    }
    this.#synced();
  }

  /** What is there stays: a server that is being set up may deny what it has. */
  #missing(): void {
    if (this.resource.isOptional) this.#synced();
  }

  #synced(): void {
    if (this.#hasSynced) return;
    this.#hasSynced = true;
    this.#handlers.synced();
  }

  #heard(): void {
    this.#lastHeard = this.#clock.elapsed();
    this.#report.heard?.(this.resource.path);
  }
}

function isSame(from: KubeObject, to: KubeObject): boolean {
  const { resourceVersion } = to.metadata;
  return resourceVersion !== undefined && from.metadata.resourceVersion === resourceVersion;
}
