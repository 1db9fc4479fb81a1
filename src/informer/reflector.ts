import type { DecodeResult, KubeObject } from '../api/index.ts';
import { type ApiClient, ApiError, type ApiResponse, statusError } from '../client/index.ts';
import type { Clock } from '../lib/clock.ts';
import { BackOff } from './back-off.ts';
import { type ListPage, readListPage } from './list-page.ts';
import { type Cause, type Ending, nextStep, type Phase } from './next-step.ts';
import { Pause } from './pause.ts';
import type { InformerReport } from './report.ts';
import { type Query, type Resource, resourcePath } from './resource.ts';
import { readWatch, type WatchEvent } from './watch-stream.ts';

/** Where what comes goes. */
export interface ReflectorSink {
  /** A fresh list begins; what came of one that broke off does not count. */
  begin(): void;
  present(result: DecodeResult): void;
  deleted(result: DecodeResult): void;
  /** The fresh list is complete: what it did not bring is gone. */
  finish(): void;
  /** The server has no such resource. */
  missing(): void;
  /** Anything came. */
  heard(): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: ApiClient;
  readonly resource: Resource<T>;
  readonly accept: string;
  readonly sink: ReflectorSink;
  readonly report: InformerReport;
  readonly clock: Clock;
  readonly random: () => number;
}

const PAGE = '500';
const SHORTEST_WATCH_SECONDS = 300;
/** A watch that the server does not end at the time it was given hangs; so does a list that takes longer than this. */
const SLACK_MS = 30_000;
const LIST_MS = 300_000;
/** A watch that ends sooner and brings nothing did not work. */
const LIVELY_MS = 1000;
/** A server that wants to be left alone for longer is asked again all the same. */
const LONGEST_RETRY_AFTER_SECONDS = 60;

/** Follows one resource for ever: first all of it, then every change. What goes wrong is tried again, later each time. */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #backOffs: Readonly<Record<Cause, BackOff>>;
  readonly #pause: Pause;
  #running: Promise<void> | undefined;
  #closed = false;
  #request: AbortController | undefined;
  #phase: Phase = 'streaming list';
  /** What a watch goes on from, and no list may be older than; empty if nothing was read yet. */
  #version = '';
  /** The server does not know the version. */
  #versionForgotten = false;
  /** Waits because the server could not be reached. */
  #isUnanswered = false;
  /** What was told last, until it is well again. */
  #problem: string | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    const { clock, random } = options;
    this.#backOffs = { failure: new BackOff(clock, random), 'old version': new BackOff(clock, random) };
    this.#pause = new Pause(clock);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** The server can be reached: if that was what is waited for, wait no longer. */
  hurry(): void {
    if (this.#isUnanswered) this.#pause.end();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#request?.abort();
    this.#pause.end();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const ending = await this.#attempt();
      if (ending && !this.#closed) await this.#goOn(ending);
    }
  }

  async #goOn(ending: Ending): Promise<void> {
    const step = nextStep(ending);
    this.#phase = step.phase;
    if (step.forgetVersion) this.#versionForgotten = true;
    if (ending.error instanceof ApiError && ending.error.status === 404) this.#options.sink.missing();
    if (step.problem !== undefined) this.#tell(step.problem);
    if (!step.waitFor) return;
    this.#isUnanswered = ending.error instanceof ApiError && ending.error.code !== 'status';
    await this.#pause.wait(Math.max(this.#backOffs[step.waitFor].next(), retryAfterMs(ending.error)));
    this.#isUnanswered = false;
  }

  /** Undefined after a list that was read. */
  async #attempt(): Promise<Ending | undefined> {
    const { clock } = this.#options;
    const started = clock.now();
    const version = this.#version;
    let error: unknown;
    try {
      if (this.#phase === 'list' || this.#phase === 'full list') return await this.#list(this.#phase);
      await this.#watch();
    } catch (thrown) {
      error = thrown ?? new Error('nothing');
    }
    const lively = clock.now() - started >= LIVELY_MS || this.#version !== version;
    const hasVersion = this.#version !== '' && !this.#versionForgotten;
    return { phase: this.#phase, error, lively, hasVersion };
  }

  async #list(phase: Phase): Promise<undefined> {
    const { sink } = this.#options;
    sink.begin();
    const first = this.#firstPage(phase);
    let page = await this.#listPage(first);
    while (page.continueToken !== '') {
      page = await this.#listPage({ limit: first.limit, continue: page.continueToken });
    }
    this.#listed(page.resourceVersion);
  }

  #listPage(query: Query): Promise<ListPage> {
    const { sink, resource } = this.#options;
    return this.#ask(query, LIST_MS, response => {
      sink.heard();
      return readListPage(response, resource, result => sink.present(result));
    });
  }

  /** From the server's memory where that will do: with a version, that is only so without a limit. */
  #firstPage(phase: Phase): Query {
    if (phase === 'full list') return { resourceVersion: '' };
    if (this.#versionForgotten) return { resourceVersion: '', limit: PAGE };
    return this.#version === '' ? { resourceVersion: '0', limit: PAGE } : { resourceVersion: this.#version };
  }

  async #watch(): Promise<void> {
    const seconds = Math.floor(SHORTEST_WATCH_SECONDS * (1 + this.#options.random()));
    const isList = this.#phase === 'streaming list';
    const query = {
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(seconds),
      resourceVersion: isList && this.#versionForgotten ? '' : this.#version,
      ...(isList && { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }),
    };
    await this.#ask(query, seconds * 1000 + SLACK_MS, async response => {
      if (isList) this.#options.sink.begin();
      else this.#well();
      this.#options.sink.heard();
      await readWatch(response, this.#options.resource, event => this.#take(event));
    });
  }

  #take(event: WatchEvent): void {
    const { sink } = this.#options;
    sink.heard();
    switch (event.type) {
      case 'present':
        sink.present(event.result);
        this.#advance(event.result);
        return;
      case 'deleted':
        sink.deleted(event.result);
        this.#advance(event.result);
        return;
      case 'bookmark':
        if (this.#phase === 'watch') this.#version = event.bookmark.resourceVersion;
        else if (event.bookmark.initialEventsEnd) this.#listed(event.bookmark.resourceVersion);
    }
  }

  /** While a list streams in, only its end is a place to go on from. */
  #advance(result: DecodeResult): void {
    if (this.#phase === 'watch' && result.kind === 'object') {
      this.#version = result.object.metadata.resourceVersion ?? this.#version;
    }
  }

  #listed(resourceVersion: string): void {
    this.#phase = 'watch';
    this.#version = resourceVersion;
    this.#versionForgotten = false;
    this.#options.sink.finish();
    this.#well();
  }

  /** Makes a request and reads the answer, in the time that it may take. */
  async #ask<R>(query: Query, longestMs: number, read: (response: ApiResponse) => Promise<R>): Promise<R> {
    const { client, resource, accept, clock } = this.#options;
    const request = new AbortController();
    let hangs = false;
    const timer = clock.setTimer(longestMs, () => {
      hangs = true;
      request.abort();
    });
    this.#request = request;
    try {
      const { signal } = request;
      const response = await client.request({ path: resourcePath(resource, query), accept, signal });
      if (response.status !== 200) throw await statusError(response);
      return await read(response);
    } catch (error) {
      if (!hangs) throw error;
      throw new ApiError('timeout', `the server did not end its answer within ${Math.round(longestMs / 1000)} s`);
    } finally {
      timer.cancel();
      this.#request = undefined;
    }
  }

  #tell(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    const { report, resource } = this.#options;
    report.problem({ where: resource.path, message: `cannot be followed, and is tried again: ${problem}` });
  }

  #well(): void {
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    this.#options.report.recovered(this.#options.resource.path);
  }
}

function retryAfterMs(error: unknown): number {
  const seconds = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0;
  return Math.min(seconds, LONGEST_RETRY_AFTER_SECONDS) * 1000;
}
