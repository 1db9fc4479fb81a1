import { effect } from '@preact/signals';
import type { HelloEvent, LiveEvent } from '../../../inspect/index.ts';
import { BackOff } from '../../../lib/back-off.ts';
import { errorText } from '../../../lib/error-text.ts';
import type { PageInfo } from '../../index.ts';
import { ApiError, ask, open, texts } from '../api.ts';
import { announce } from './announcements.ts';
import type { Browser } from './browser.ts';
import { now } from './clock.ts';
import { historyEntries } from './history.ts';
import { type ConnectionState, connection, dispatch, hello, lastDataAt, lastFailure, status } from './live.ts';
import { pageInfo } from './page-info.ts';
import { pulses } from './pulses.ts';
import { expireRates, rates } from './rates.ts';
import { ServiceList } from './service-list.ts';
import { SseParser } from './sse-parser.ts';
import { takeEvent } from './take-event.ts';
import { deniedReason } from './token.ts';
import { Watchdog } from './watchdog.ts';

/** The proxy sends something every 5 s. */
const MAX_SILENCE_MS = 15_000;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 10_000;
/** A hidden page keeps its stream this long: people switch tabs and come back. */
const MAX_HIDDEN_MS = 5000;

/** Follows the proxy as long as the page is open. */
export class LiveClient {
  readonly #browser: Browser;
  readonly #maxHiddenMs: number;
  readonly #backOff = new BackOff({ firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS });
  #stream: AbortController | undefined;
  #wake: () => void = () => undefined;
  #list: ServiceList | undefined;
  #isClosed = false;

  constructor(browser: Browser, maxHiddenMs = MAX_HIDDEN_MS) {
    this.#browser = browser;
    this.#maxHiddenMs = maxHiddenMs;
  }

  async run(): Promise<void> {
    this.#listen();
    while (!this.#isClosed) {
      if (await isFleet()) {
        this.#show('live');
        await this.#sleep();
        continue;
      }
      const failure = await this.#follow().catch((error: unknown) => error);
      if (!this.#isClosed) await this.#waitAfter(failure);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#stream?.abort();
    this.#wake();
  }

  async #waitAfter(failure: unknown): Promise<void> {
    if (deniedReason.value !== undefined) {
      this.#show('denied', 'The proxy wants a token.');
      return this.#sleep();
    }
    if (this.#browser.isHidden && connection.value === 'live') {
      this.#show('paused');
      return this.#sleep();
    }
    lastFailure.value = errorText(failure);
    const wasLive = connection.value === 'live' || connection.value === 'paused';
    if (wasLive) this.#show('reconnecting', 'The connection to the proxy is lost. The page retries.');
    return this.#sleep(this.#backOff.fail());
  }

  /** What ends a wait, or the stream. */
  #listen(): void {
    let hiding: ReturnType<typeof setTimeout> | undefined;
    this.#browser.onChange(() => {
      clearTimeout(hiding);
      if (this.#browser.isHidden) hiding = setTimeout(() => this.#stream?.abort(), this.#maxHiddenMs);
      else this.#wake();
    });
    now.subscribe(expireRates);
    // A token that the operator gives ends the denial.
    effect(() => (deniedReason.value === undefined ? this.#wake() : this.#stream?.abort()));
  }

  /** Returns when the time is over, or at once when there is a reason to retry. */
  #sleep(milliseconds?: number): Promise<void> {
    return new Promise(resolve => {
      const timer = milliseconds === undefined ? undefined : setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Reads one stream until it ends. */
  async #follow(): Promise<never> {
    const stream = new AbortController();
    this.#stream = stream;
    const silence = new ApiError(`The proxy sent nothing for ${MAX_SILENCE_MS / 1000} s.`);
    const watchdog = new Watchdog(MAX_SILENCE_MS, () => stream.abort(silence));
    try {
      const response = await open('v1/live', {}, stream.signal);
      const parser = new SseParser();
      for await (const text of texts(response)) {
        watchdog.reset();
        lastDataAt.value = Date.now();
        for (const { data } of parser.push(text)) this.#take(JSON.parse(data), stream.signal);
      }
      throw new ApiError('The proxy ended the connection.');
    } catch (error) {
      throw stream.signal.aborted ? stream.signal.reason : error;
    } finally {
      watchdog.stop();
      stream.abort();
    }
  }

  #take(event: LiveEvent, signal: AbortSignal): void {
    if (event.kind === 'hello') this.#begin(event, signal);
    else takeEvent(event, this.#list);
  }

  #begin(event: HelloEvent, signal: AbortSignal): void {
    this.#backOff.reset();
    if (hello.value?.run !== event.run) {
      historyEntries.value = [];
      status.value = undefined;
      pageInfo.value = undefined;
    }
    rates.clear();
    hello.value = event;
    pulses.value = event.pulse;
    lastFailure.value = undefined;
    this.#show('live', connection.value === 'connecting' ? '' : 'The page is live again.');
    this.#list = new ServiceList(signal);
    this.#list.request();
    if (!pageInfo.value) void readPageInfo(signal);
    dispatch(event);
  }

  #show(state: ConnectionState, spoken = ''): void {
    connection.value = state;
    if (spoken !== '') announce(spoken);
  }
}

/** The page about all nodes has no stream: it asks the nodes itself. */
async function isFleet(): Promise<boolean> {
  if (!pageInfo.value) await readPageInfo();
  return pageInfo.value?.view === 'fleet';
}

/** A proxy that is older than the page does not know it. The page then only reads. */
async function readPageInfo(signal?: AbortSignal): Promise<void> {
  pageInfo.value = await ask<PageInfo>('v1/page', {}, signal ?? AbortSignal.timeout(MAX_SILENCE_MS)).catch(
    () => undefined,
  );
}
