import type { DecodeResult } from '../../api/index.ts';
import { BackOff } from '../../lib/back-off.ts';
import { sleep } from '../../lib/sleep.ts';
import { ApiError } from '../index.ts';
import { type ListPage, readListPage } from './list-page.ts';
import { type AttemptEnd, nextStep, type Phase, type WaitCause } from './next-step.ts';
import { isOlderVersion, listQuery, streamingListQuery, VERSION_QUERY, type Version, watchQuery } from './queries.ts';
import type { InformerReporter } from './reporter.ts';
import type { Query } from './resource.ts';
import { ResourceRequests, type ResourceRequestsOptions } from './resource-requests.ts';
import { SilenceWatchdog } from './silence-watchdog.ts';
import { GIVE_UP_AFTER_MS, REPORT_AFTER_MS, StallWatchdog } from './stall-watchdog.ts';
import { WatchStatus } from './watch-status.ts';
import { readWatch, type WatchEvent } from './watch-stream.ts';

/** Receives what the API server sends. */
export interface ReflectorSink {
  /**
   * A fresh list starts. An earlier list that broke off does not count. If the server does not know the former version,
   * the same version of an object may now mean another state of it.
   */
  listStarted(hasSameHistory: boolean): void;
  objectPresent(result: DecodeResult): void;
  objectDeleted(result: DecodeResult): void;
  /** The fresh list is complete. Objects that are not in it are gone. */
  listCompleted(): void;
  /** The API server does not have the resource. */
  resourceMissing(): void;
  /** The API server sent anything: an answer, an event or a bookmark. */
  dataReceived(): void;
}

export interface ReflectorOptions extends ResourceRequestsOptions {
  readonly sink: ReflectorSink;
  readonly reporter: InformerReporter;
  readonly random: () => number;
  /** After this long without anything from a watch, the reflector checks whether the watch is deaf. */
  readonly silenceMs: number;
}

const BACK_OFF = { firstMs: 800, maxMs: 30_000, resetAfterMs: 120_000 };
const MIN_WATCH_SECONDS = 300;
/** The server should end a watch after the time that was asked for. This much later, the watch counts as hanging. */
const WATCH_GRACE_MS = 30_000;
const LIST_TIMEOUT_MS = 300_000;
const VERSION_CHECK_TIMEOUT_MS = 30_000;
/** A watch that ends sooner and brings nothing did not work. */
const MIN_ACTIVE_MS = 1000;
/** The reflector waits no longer than this, even if the server asks for more. */
const MAX_RETRY_AFTER_SECONDS = 60;

/** Lists one resource, then watches it, until it is closed. After a failure it retries, and waits longer each time. */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #backOffs: Readonly<Record<WaitCause, BackOff>>;
  readonly #watchdog: StallWatchdog;
  readonly #silenceWatchdog: SilenceWatchdog;
  readonly #requests: ResourceRequests;
  readonly #status: WatchStatus;
  #running: Promise<void> | undefined;
  #closed = false;
  #phase: Phase = 'streaming list';
  #version: Version = { text: '', isUnknown: false };
  /** The phase that follows because the reflector itself aborted the current request, which was silent. */
  #phaseAfterSilence: Phase | undefined;
  /** Ends the current wait. */
  #wait: AbortController | undefined;
  /** The current wait is there because the reflector could not reach the server. */
  #isServerUnreachable = false;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    const { clock, random, silenceMs } = options;
    const backOff = () => new BackOff({ ...BACK_OFF, random, clock });
    this.#backOffs = { failure: backOff(), 'old version': backOff() };
    this.#requests = new ResourceRequests(options);
    this.#status = new WatchStatus(options.resource.path, options.reporter);
    const silence = `the API server has sent nothing for ${REPORT_AFTER_MS / 1000} s`;
    this.#watchdog = new StallWatchdog(clock, awaited => this.#status.stalled(`${silence}: waiting for ${awaited}`));
    const onSilence = () => this.#abortSilent('version check');
    this.#silenceWatchdog = new SilenceWatchdog({ limitMs: silenceMs, clock, random, onSilence });
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends the wait if the reflector waits because it could not reach the server. */
  retryNow(): void {
    if (this.#isServerUnreachable) this.#wait?.abort();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#requests.abort();
    this.#wait?.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const end = await this.#attempt();
      if (end && !this.#closed) await this.#prepareNextStep(end);
    }
  }

  async #prepareNextStep(end: AttemptEnd): Promise<void> {
    const step = nextStep(end);
    this.#phase = step.phase;
    if (step.isVersionUnknown) this.#version = { ...this.#version, isUnknown: true };
    if (end.error instanceof ApiError && end.error.status === 404) this.#options.sink.resourceMissing();
    if (step.problem !== undefined) this.#status.failed(step.problem);
    if (!step.waitCause) return;
    this.#isServerUnreachable = end.error instanceof ApiError && end.error.code !== 'status';
    this.#wait = new AbortController();
    const ms = Math.max(this.#backOffs[step.waitCause].fail(), retryAfterMs(end.error));
    await sleep(ms, this.#options.clock, this.#wait.signal);
    this.#isServerUnreachable = false;
  }

  /** Returns undefined if the next phase is clear: after a complete list, a version check, and a silent request. */
  async #attempt(): Promise<AttemptEnd | undefined> {
    const { clock } = this.#options;
    const started = clock.elapsed();
    const version = this.#version.text;
    this.#phaseAfterSilence = undefined;
    let error: unknown;
    try {
      if (this.#phase === 'version check') return await this.#checkVersion();
      if (this.#phase === 'list' || this.#phase === 'full list') return await this.#list(this.#phase);
      await this.#watch();
    } catch (thrown) {
      if (this.#phaseAfterSilence) {
        this.#phase = this.#phaseAfterSilence;
        return undefined;
      }
      error = thrown ?? new Error('nothing');
    } finally {
      this.#watchdog.stop();
      this.#silenceWatchdog.stop();
    }
    const wasActive = clock.elapsed() - started >= MIN_ACTIVE_MS || this.#version.text !== version;
    const hasVersion = this.#version.text !== '' && !this.#version.isUnknown;
    return { phase: this.#phase, error, wasActive, hasVersion };
  }

  /** If the server has not reached the version of the watch, it keeps silent about all changes until then. */
  async #checkVersion(): Promise<undefined> {
    const { sink, resource } = this.#options;
    const { text } = this.#version;
    const { resourceVersion } = await this.#requests.send(VERSION_QUERY, VERSION_CHECK_TIMEOUT_MS, response => {
      sink.dataReceived();
      return readListPage(response, resource, () => {});
    });
    const isOlder = isOlderVersion(resourceVersion, text);
    this.#phase = isOlder === false ? 'watch' : 'streaming list';
    if (!isOlder) return;
    this.#version = { text, isUnknown: true };
    const cause = 'it was probably restored from a backup';
    this.#status.stalled(`the API server is at version ${resourceVersion}, older than ${text}: ${cause}`);
  }

  async #list(phase: Phase): Promise<undefined> {
    this.#options.sink.listStarted(!this.#version.isUnknown);
    this.#watchdog.start('the list of all objects');
    const first = listQuery(phase, this.#version);
    let page = await this.#listPage(first);
    while (page.continueToken !== '') {
      page = await this.#listPage({ limit: first.limit, continue: page.continueToken });
    }
    this.#completeList(page.resourceVersion);
  }

  #listPage(query: Query): Promise<ListPage> {
    const { sink, resource } = this.#options;
    return this.#requests.send(query, LIST_TIMEOUT_MS, response => {
      sink.dataReceived();
      return readListPage(this.#watchdog.observe(response), resource, result => sink.objectPresent(result));
    });
  }

  async #watch(): Promise<void> {
    const { sink, resource, random } = this.#options;
    const seconds = Math.floor(MIN_WATCH_SECONDS * (1 + random()));
    const isList = this.#phase === 'streaming list';
    const query = (isList ? streamingListQuery : watchQuery)(seconds, this.#version);
    if (isList) this.#watchdog.start('the answer to a streaming list', () => this.#abortSilent('list'));
    await this.#requests.send(query, seconds * 1000 + WATCH_GRACE_MS, async response => {
      if (isList) this.#startStreamingList();
      else this.#startWatch();
      sink.dataReceived();
      await readWatch(response, resource, event => this.#handleEvent(event));
    });
  }

  #startStreamingList(): void {
    this.#options.sink.listStarted(!this.#version.isUnknown);
    const fallback = `after ${GIVE_UP_AFTER_MS / 1000} s the proxy asks for a plain list`;
    this.#watchdog.dataReceived(`the bookmark that ends the streaming list (${fallback})`);
  }

  #startWatch(): void {
    this.#status.works();
    this.#silenceWatchdog.start();
  }

  #abortSilent(next: Phase): void {
    this.#phaseAfterSilence = next;
    this.#requests.abort();
  }

  #handleEvent(event: WatchEvent): void {
    const { sink } = this.#options;
    this.#watchdog.dataReceived();
    this.#silenceWatchdog.dataReceived();
    sink.dataReceived();
    switch (event.type) {
      case 'present':
        sink.objectPresent(event.result);
        this.#advanceTo(event.result);
        return;
      case 'deleted':
        sink.objectDeleted(event.result);
        this.#advanceTo(event.result);
        return;
      case 'bookmark':
        if (this.#phase === 'watch') this.#setVersion(event.bookmark.resourceVersion);
        else if (event.bookmark.initialEventsEnd) this.#completeList(event.bookmark.resourceVersion);
    }
  }

  /** A watch cannot go on from the middle of a streaming list, only from its end. */
  #advanceTo(result: DecodeResult): void {
    if (this.#phase === 'watch' && result.kind === 'object') {
      this.#setVersion(result.object.metadata.resourceVersion ?? this.#version.text);
    }
  }

  #setVersion(resourceVersion: string): void {
    this.#version = { text: resourceVersion, isUnknown: false };
  }

  #completeList(resourceVersion: string): void {
    this.#phase = 'watch';
    this.#watchdog.stop();
    this.#setVersion(resourceVersion);
    this.#options.sink.listCompleted();
    this.#startWatch();
  }
}

function retryAfterMs(error: unknown): number {
  const seconds = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0;
  return Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000;
}
