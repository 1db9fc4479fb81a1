import { type DecodeResult, isOlderVersion } from '../../api/index.ts';
import { ApiError, type ApiResponse } from '../index.ts';
import { type AttemptEnd, nextStep, type Phase } from './next-step.ts';
import { listQuery, streamingListQuery, type Version, watchQuery } from './queries.ts';
import type { ReflectorOptions } from './reflector-options.ts';
import { ResourceRequests } from './resource-requests.ts';
import { RetryWaits } from './retry-waits.ts';
import { SilenceWatchdog } from './silence-watchdog.ts';
import { GIVE_UP_AFTER_MS, REPORT_AFTER_MS, StallWatchdog } from './stall-watchdog.ts';
import { WatchStatus } from './watch-status.ts';
import { readWatch, type WatchEvent } from './watch-stream.ts';

const MIN_WATCH_SECONDS = 300;
/** The server should end a watch after the time that was asked for. This much later, the watch counts as hanging. */
const WATCH_GRACE_MS = 30_000;
/** A watch that ends sooner did not work, unless it brought something. One that does so again and again does not work. */
const MIN_ACTIVE_MS = 1000;

/** The API server does not allow to read the resource, or does not have it. */
const UNAVAILABLE: ReadonlySet<number> = new Set([403, 404]);

/** Lists one resource, then watches it, until it is closed. After a failure it retries, and waits longer each time. */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #waits: RetryWaits;
  readonly #watchdog: StallWatchdog;
  readonly #silenceWatchdog: SilenceWatchdog;
  readonly #requests: ResourceRequests;
  readonly #status: WatchStatus;
  #running: Promise<void> | undefined;
  #closed = false;
  #phase: Phase = 'streaming list';
  #version: Version = { text: '', isUnknown: false };
  /** When the last attempt started that ended before its phase was over. */
  #lastStarted = Number.NEGATIVE_INFINITY;
  /** The server may have been set back to an older state meanwhile. */
  #wasServerAway = false;
  /** The phase that follows because the reflector itself aborted the current request. */
  #phaseAfterAbort: Phase | undefined;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    const { clock, random, silenceMs } = options;
    this.#waits = new RetryWaits(options, options.connectWaits);
    this.#requests = new ResourceRequests(options, () => options.sink.dataReceived());
    this.#status = new WatchStatus(options.resource, options.reporter);
    const silence = `the API server has sent nothing for ${REPORT_AFTER_MS / 1000} s`;
    this.#watchdog = new StallWatchdog(clock, awaited => this.#status.stalled(`${silence}: waiting for ${awaited}`));
    const onSuspicion = () => this.#abortFor('version check');
    this.#silenceWatchdog = new SilenceWatchdog({ limitMs: silenceMs, clock, random, onSuspicion });
  }

  /** The sink has everything up to this version. Undefined before the first list, or if the server does not know it. */
  get version(): string | undefined {
    const { text, isUnknown } = this.#version;
    return text === '' || isUnknown ? undefined : text;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Another reflector has reached the server: ends the wait, if there is one because of the server. */
  serverReached(): void {
    this.#waits.serverReached();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#requests.abort();
    this.#waits.close();
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
    const isUnavailable = end.error instanceof ApiError && UNAVAILABLE.has(end.error.status ?? 0);
    if (isUnavailable) this.#options.sink.resourceUnavailable();
    if (step.problem !== undefined) this.#status.failed(step.problem, isUnavailable);
    if (step.waitCause === 'refused' || step.waitCause === 'broken') this.#wasServerAway = true;
    if (step.waitCause) await this.#waits.wait(step.waitCause, end.error);
  }

  /** Returns undefined if the next phase is clear: after a complete list, a version check, and an abort. */
  async #attempt(): Promise<AttemptEnd | undefined> {
    const { clock } = this.#options;
    const started = clock.elapsed();
    const version = this.#version.text;
    this.#phaseAfterAbort = undefined;
    let error: unknown;
    try {
      if (this.#phase === 'version check') return await this.#checkVersion();
      if (this.#phase === 'list' || this.#phase === 'full list') return await this.#list(this.#phase);
      await this.#watch();
    } catch (thrown) {
      if (this.#phaseAfterAbort) {
        this.#phase = this.#phaseAfterAbort;
        return undefined;
      }
      error = thrown ?? new Error('nothing');
    } finally {
      this.#watchdog.stop();
      this.#silenceWatchdog.stop();
    }
    const broughtSomething = this.#version.text !== version && started - this.#lastStarted >= MIN_ACTIVE_MS;
    const wasActive = clock.elapsed() - started >= MIN_ACTIVE_MS || broughtSomething;
    this.#lastStarted = started;
    const hasVersion = this.#version.text !== '' && !this.#version.isUnknown;
    return { phase: this.#phase, error, wasActive, hasVersion };
  }

  /** If the server has not reached the version of the watch, it keeps silent about all changes until then. */
  async #checkVersion(): Promise<undefined> {
    const { text } = this.#version;
    const serverVersion = await this.#requests.serverVersion();
    this.#wasServerAway = false;
    const isOlder = isOlderVersion(serverVersion, text);
    this.#phase = isOlder === false ? 'watch' : 'streaming list';
    if (!isOlder) return;
    this.#version = { text, isUnknown: true };
    this.#status.stalled(
      `the API server is at version ${serverVersion}, older than ${text}: it was probably restored from a backup`,
    );
  }

  async #list(phase: Phase): Promise<undefined> {
    const { sink } = this.#options;
    sink.listStarted(!this.#version.isUnknown);
    this.#watchdog.start('the list of all objects');
    const observe = (response: ApiResponse) => this.#watchdog.observe(response);
    const query = listQuery(phase, this.#version);
    this.#completeList(await this.#requests.list(query, observe, result => sink.objectPresent(result)));
  }

  async #watch(): Promise<void> {
    const { resource, random } = this.#options;
    const seconds = Math.floor(MIN_WATCH_SECONDS * (1 + random()));
    const isList = this.#phase === 'streaming list';
    const query = (isList ? streamingListQuery : watchQuery)(seconds, this.#version);
    if (isList) this.#watchdog.start('the answer to a streaming list', () => this.#abortFor('list'));
    else this.#silenceWatchdog.start(false);
    await this.#requests.send(query, seconds * 1000 + WATCH_GRACE_MS, async response => {
      if (isList) this.#startStreamingList();
      else this.#startWatch();
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
    this.#silenceWatchdog.start(this.#wasServerAway);
  }

  #abortFor(next: Phase): void {
    this.#phaseAfterAbort = next;
    this.#requests.abort();
  }

  #handleEvent(event: WatchEvent): void {
    const { sink } = this.#options;
    this.#watchdog.dataReceived();
    this.#silenceWatchdog.dataReceived();
    sink.dataReceived();
    if (event.type === 'bookmark') {
      if (this.#phase === 'watch') this.#setVersion(event.bookmark.resourceVersion);
      else if (event.bookmark.initialEventsEnd) this.#completeList(event.bookmark.resourceVersion);
      return;
    }
    if (event.type === 'present') sink.objectPresent(event.result);
    else sink.objectDeleted(event.result);
    this.#advanceTo(event.result);
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
    this.#wasServerAway = false;
    this.#watchdog.stop();
    this.#setVersion(resourceVersion);
    this.#options.sink.listCompleted();
    this.#startWatch();
  }
}
