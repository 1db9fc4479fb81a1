import type { DecodeResult } from '../../api/index.ts';
import { ApiError } from '../index.ts';
import { BackOff } from './back-off.ts';
import { type ListPage, readListPage } from './list-page.ts';
import { type Cause, type Ending, nextStep, type Phase } from './next-step.ts';
import { GIVE_UP_MS, Patience, TELL_MS } from './patience.ts';
import { Pause } from './pause.ts';
import { listQuery, streamingListQuery, type Version, watchQuery } from './queries.ts';
import type { InformerReport } from './report.ts';
import { Requests, type RequestsOptions } from './requests.ts';
import type { Query } from './resource.ts';
import { Trouble } from './trouble.ts';
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

export interface ReflectorOptions extends RequestsOptions {
  readonly sink: ReflectorSink;
  readonly report: InformerReport;
  readonly random: () => number;
}

const SHORTEST_WATCH_SECONDS = 300;
/** A watch that the server does not end at the time it was given hangs; so does a list that takes longer than this. */
const SLACK_MS = 30_000;
const LIST_MS = 300_000;
/** A watch that ends sooner and brings nothing did not work. */
const LIVELY_MS = 1000;
/** A server that wants to be left alone for longer is asked again all the same. */
const LONGEST_RETRY_AFTER_SECONDS = 60;

/** Follows one resource for ever: first all of it, then every change. What goes wrong is tried again, later each time. */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #backOffs: Readonly<Record<Cause, BackOff>>;
  readonly #pause: Pause;
  readonly #patience: Patience;
  readonly #requests: Requests;
  readonly #trouble: Trouble;
  #running: Promise<void> | undefined;
  #closed = false;
  #phase: Phase = 'streaming list';
  #version: Version = { text: '', isForgotten: false };
  /** That the watch at hand has brought. */
  #events = 0;
  /** The streaming list at hand was ended because nothing came. */
  #gaveUp = false;
  /** Waits because the server could not be reached. */
  #isUnanswered = false;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    const { clock, random } = options;
    this.#backOffs = { failure: new BackOff(clock, random), 'old version': new BackOff(clock, random) };
    this.#pause = new Pause(clock);
    this.#requests = new Requests(options);
    this.#trouble = new Trouble(options.resource.path, options.report);
    this.#patience = new Patience(clock, what =>
      this.#trouble.waiting(`nothing has come for ${TELL_MS / 1000} s: waiting for ${what}`),
    );
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
    this.#patience.end();
    this.#requests.abort();
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
    if (step.forgetVersion) this.#version = { ...this.#version, isForgotten: true };
    if (ending.error instanceof ApiError && ending.error.status === 404) this.#options.sink.missing();
    if (step.problem !== undefined) this.#trouble.tell(step.problem);
    if (!step.waitFor) return;
    this.#isUnanswered = ending.error instanceof ApiError && ending.error.code !== 'status';
    await this.#pause.wait(Math.max(this.#backOffs[step.waitFor].next(), retryAfterMs(ending.error)));
    this.#isUnanswered = false;
  }

  /** Undefined after a list that was read. */
  async #attempt(): Promise<Ending | undefined> {
    const { clock } = this.#options;
    const started = clock.elapsed();
    const version = this.#version.text;
    this.#events = 0;
    this.#gaveUp = false;
    let error: unknown;
    try {
      if (this.#phase === 'list' || this.#phase === 'full list') return await this.#list(this.#phase);
      await this.#watch();
    } catch (thrown) {
      // What is given up did not fail: it is asked for in another way.
      error = this.#gaveUp ? undefined : (thrown ?? new Error('nothing'));
    } finally {
      this.#patience.end();
    }
    const lasted = clock.elapsed() - started;
    const lively = lasted >= LIVELY_MS || this.#version.text !== version;
    const mute = lasted >= SHORTEST_WATCH_SECONDS * 1000 && this.#events === 0;
    const hasVersion = this.#version.text !== '' && !this.#version.isForgotten;
    return { phase: this.#phase, error, lively, mute, hasVersion };
  }

  async #list(phase: Phase): Promise<undefined> {
    const { sink } = this.#options;
    sink.begin();
    this.#patience.begin('the list of all objects');
    const first = listQuery(phase, this.#version);
    let page = await this.#listPage(first);
    while (page.continueToken !== '') {
      page = await this.#listPage({ limit: first.limit, continue: page.continueToken });
    }
    this.#listed(page.resourceVersion);
  }

  #listPage(query: Query): Promise<ListPage> {
    const { sink, resource } = this.#options;
    return this.#requests.ask(query, LIST_MS, response => {
      sink.heard();
      return readListPage(this.#patience.listenTo(response), resource, result => sink.present(result));
    });
  }

  async #watch(): Promise<void> {
    const seconds = Math.floor(SHORTEST_WATCH_SECONDS * (1 + this.#options.random()));
    const isList = this.#phase === 'streaming list';
    const query = (isList ? streamingListQuery : watchQuery)(seconds, this.#version);
    if (isList) this.#patience.begin('the answer to a streaming list', () => this.#giveUp());
    await this.#requests.ask(query, seconds * 1000 + SLACK_MS, async response => {
      if (isList) this.#listBegins();
      else this.#trouble.over();
      this.#options.sink.heard();
      await readWatch(response, this.#options.resource, event => this.#take(event));
    });
  }

  #listBegins(): void {
    this.#options.sink.begin();
    const after = `after ${GIVE_UP_MS / 1000} s a plain list is asked for`;
    this.#patience.heard(`the bookmark that ends the streaming list (${after})`);
  }

  /** A server that does not say where its objects end cannot stream them. */
  #giveUp(): void {
    this.#gaveUp = true;
    this.#requests.abort();
  }

  #take(event: WatchEvent): void {
    const { sink } = this.#options;
    this.#events++;
    this.#patience.heard();
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
        if (this.#phase === 'watch') this.#reached(event.bookmark.resourceVersion);
        else if (event.bookmark.initialEventsEnd) this.#listed(event.bookmark.resourceVersion);
    }
  }

  /** While a list streams in, only its end is a place to go on from. */
  #advance(result: DecodeResult): void {
    if (this.#phase === 'watch' && result.kind === 'object') {
      this.#reached(result.object.metadata.resourceVersion ?? this.#version.text);
    }
  }

  #reached(resourceVersion: string): void {
    this.#version = { text: resourceVersion, isForgotten: false };
  }

  #listed(resourceVersion: string): void {
    this.#phase = 'watch';
    this.#patience.end();
    this.#reached(resourceVersion);
    this.#options.sink.finish();
    this.#trouble.over();
  }
}

function retryAfterMs(error: unknown): number {
  const seconds = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0;
  return Math.min(seconds, LONGEST_RETRY_AFTER_SECONDS) * 1000;
}
