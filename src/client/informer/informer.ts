import { type DecodeResult, type KubeObject, objectKey } from '../../api/index.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { ApiClient } from '../index.ts';
import { Handlers, type InformerHandler } from './handlers.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorSink } from './reflector-options.ts';
import type { InformerReporter } from './reporter.ts';
import { isOfResource, type Resource } from './resource.ts';
import { Resync } from './resync.ts';
import { ConnectWaits } from './retry-waits.ts';
import { DEFAULT_SILENCE_MS } from './silence-watchdog.ts';
import { UnusableObjects } from './unusable-objects.ts';

export interface InformerOptions<T extends KubeObject> {
  readonly client: ApiClient;
  readonly resource: Resource<T>;
  /** The Accept header: the content types that the informer asks for, best first. */
  readonly accept: string;
  readonly reporter: InformerReporter;
  /** How often the informer delivers all objects again; 0 or undefined: never. */
  readonly resyncMs?: number | undefined;
  /** After this long without anything from a watch, the informer checks whether the watch is deaf. */
  readonly silenceMs?: number | undefined;
  /** Informers of the same API server share it. */
  readonly connectWaits?: ConnectWaits | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/** The objects of one resource as they are now. Handlers receive the changes. */
export class Informer<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly #reporter: InformerReporter;
  readonly #clock: Clock;
  readonly #objects = new Map<string, T>();
  readonly #handlers: Handlers<T>;
  readonly #unusable: UnusableObjects;
  readonly #reflector: Reflector;
  readonly #resync: Resync<T>;
  /** The keys of the objects in the list that the reflector reads now; undefined when it reads none. */
  #listed: Set<string> | undefined;
  /** Objects of the same version are the same. Not so while the reflector lists a server that was set back. */
  #hasSameHistory = true;
  #hasSynced = false;
  #lastDataAt: number | undefined;

  constructor(options: InformerOptions<T>) {
    const { client, resource, accept, reporter, clock = systemClock, random = Math.random } = options;
    this.resource = resource;
    this.#reporter = reporter;
    this.#clock = clock;
    this.#handlers = new Handlers(resource, reporter);
    this.#unusable = new UnusableObjects(resource, reporter);
    this.#resync = new Resync(this.#objects, this.#handlers, options.resyncMs ?? 0, clock);
    const silenceMs = options.silenceMs ?? DEFAULT_SILENCE_MS;
    const connectWaits = options.connectWaits ?? new ConnectWaits({ clock, random });
    const sink = this.#sink();
    const common = { client, resource, accept, reporter, clock, random };
    this.#reflector = new Reflector({ ...common, sink, silenceMs, connectWaits });
  }

  /** Does nothing if the informer was started before. */
  start(): void {
    this.#reflector.start();
    this.#resync.start();
  }

  /** Another informer has reached the API server: ends the back-off of an informer that could not reach it. */
  serverReached(): void {
    this.#reflector.serverReached();
  }

  /** From now on the informer calls no handler. */
  async close(): Promise<void> {
    this.#handlers.close();
    this.#resync.close();
    await this.#reflector.close();
  }

  /** Whether the informer has received all objects that existed at the start. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** When the API server last sent anything, as `Clock.elapsed` counts; undefined before the first time. */
  get lastDataAt(): number | undefined {
    return this.#lastDataAt;
  }

  /**
   * The handlers have every change up to this resource version. Undefined before the first list is complete, and while
   * the API server does not know the version.
   */
  get version(): string | undefined {
    return this.#reflector.version;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** The key is `namespace/name`. An object without a namespace has the key `/name`. */
  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  objects(): IterableIterator<T> {
    return this.#objects.values();
  }

  /** A late handler first receives all objects that exist. Returns a function that removes the handler. */
  addHandler(handler: InformerHandler<T>): () => void {
    return this.#handlers.add(handler, this.#objects.values(), this.#hasSynced);
  }

  #sink(): ReflectorSink {
    return {
      listStarted: hasSameHistory => {
        this.#listed = new Set();
        this.#hasSameHistory = hasSameHistory;
      },
      objectPresent: result => this.#objectPresent(result),
      objectDeleted: result => this.#objectDeleted(result),
      listCompleted: () => this.#listCompleted(),
      resourceUnavailable: () => this.#resourceUnavailable(),
      dataReceived: () => this.#dataReceived(),
    };
  }

  #objectPresent(result: DecodeResult): void {
    const to = this.#usableObject(result);
    if (!to) return;
    const key = objectKey(to.metadata);
    this.#listed?.add(key);
    this.#unusable.delete(key);
    const from = this.#objects.get(key);
    // Most objects of a fresh list are the same as before.
    if (from && this.#hasSameHistory && hasSameVersion(from, to)) return;
    this.#objects.set(key, to);
    this.#handlers.changed(from ? { type: 'updated', from, to } : { type: 'added', to });
  }

  /** An object that cannot be used is remembered as such, and its last good version stays. */
  #usableObject(result: DecodeResult): T | undefined {
    if (result.kind === 'object' && isOfResource(result.object, this.resource)) return result.object;
    const unusable = result.kind === 'object' ? ({ kind: 'ignored', ignored: result.object.kind } as const) : result;
    const key = this.#unusable.add(unusable);
    if (key !== undefined) this.#listed?.add(key);
    return undefined;
  }

  #objectDeleted(result: DecodeResult): void {
    const name = result.kind === 'object' ? result.object.metadata : result.kind === 'problems' && result.subject;
    if (name) this.#remove(objectKey(name));
  }

  #remove(key: string): void {
    this.#listed?.delete(key);
    this.#unusable.delete(key);
    const from = this.#objects.get(key);
    if (!from) return;
    this.#objects.delete(key);
    this.#handlers.changed({ type: 'removed', from });
  }

  #listCompleted(): void {
    const listed = this.#listed;
    this.#listed = undefined;
    this.#hasSameHistory = true;
    if (listed) {
      for (const key of this.#objects.keys()) if (!listed.has(key)) this.#remove(key);
      for (const key of this.#unusable.keys()) if (!listed.has(key)) this.#unusable.delete(key);
    }
    this.#setSynced();
  }

  /** The objects stay: an API server that is being set up may answer 403 or 404 for a resource that it has. */
  #resourceUnavailable(): void {
    if (this.resource.isOptional) this.#setSynced();
  }

  #setSynced(): void {
    if (this.#hasSynced) return;
    this.#hasSynced = true;
    this.#handlers.synced();
  }

  #dataReceived(): void {
    this.#lastDataAt = this.#clock.elapsed();
    this.#reporter.dataReceived?.(this.resource.path);
  }
}

function hasSameVersion(from: KubeObject, to: KubeObject): boolean {
  const { resourceVersion } = to.metadata;
  return resourceVersion !== undefined && from.metadata.resourceVersion === resourceVersion;
}
