import { effect } from '@preact/signals';
import type { HelloEvent, LiveEvent } from '../../../inspect/index.ts';
import { BackOff } from '../../../lib/back-off.ts';
import { errorText } from '../../../lib/error-text.ts';
import type { PageInfo } from '../../index.ts';
import { ApiError, ask, open, texts } from '../api.ts';
import { announce } from './announcements.ts';
import { addHistory, historyEntries } from './history.ts';
import { type ConnectionState, connection, dispatch, hello, lastDataAt, lastFailure, status } from './live.ts';
import { pageInfo } from './page-info.ts';
import { addPulse, pulses } from './pulses.ts';
import { rates, ratesVersion } from './rates.ts';
import { ServiceList } from './service-list.ts';
import { changeServices, services } from './services.ts';
import { SseParser } from './sse-parser.ts';
import { deniedReason, token } from './token.ts';

/** The proxy sends something every 5 s. */
const MAX_SILENCE_MS = 15_000;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 10_000;
/** A hidden page keeps its stream this long: people switch tabs and come back. */
const HIDDEN_MS = 5000;

/** Follows the proxy as long as the page is open. */
export function startLiveClient(): void {
  void new LiveClient().run();
}

class LiveClient {
  readonly #backOff = new BackOff({ firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS });
  #stream: AbortController | undefined;
  #wake: () => void = () => undefined;
  #list: ServiceList | undefined;

  async run(): Promise<void> {
    this.#listen();
    for (;;) {
      if (document.hidden && connection.value !== 'connecting') await this.#sleep();
      const failure = await this.#follow().catch((error: unknown) => error);
      if (deniedReason.value !== undefined) {
        this.#say('denied', 'The proxy wants a token.');
        await this.#sleep();
      } else if (document.hidden && connection.value === 'live') {
        this.#say('paused', '');
      } else {
        lastFailure.value = errorText(failure);
        if (connection.value === 'live')
          this.#say('reconnecting', 'The connection to the proxy is lost. The page retries.');
        await this.#sleep(this.#backOff.fail());
      }
    }
  }

  /** What ends a wait, or the stream. */
  #listen(): void {
    let hiding: ReturnType<typeof setTimeout> | undefined;
    document.addEventListener('visibilitychange', () => {
      clearTimeout(hiding);
      if (document.hidden) hiding = setTimeout(() => this.#stream?.abort(), HIDDEN_MS);
      else this.#wake();
    });
    globalThis.addEventListener('online', () => this.#wake());
    let known = token.peek();
    effect(() => {
      if (token.value !== known) this.#wake();
      known = token.value;
      if (deniedReason.value !== undefined) this.#stream?.abort();
    });
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
    const watchdog = new Watchdog(() =>
      stream.abort(new ApiError(`The proxy sent nothing for ${MAX_SILENCE_MS / 1000} s.`)),
    );
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
    switch (event.kind) {
      case 'hello':
        this.#begin(event, signal);
        break;
      case 'status':
        status.value = event.status;
        break;
      case 'rows':
        this.#list?.noteLive(event);
        changeServices(event);
        break;
      case 'connections':
        rates.update(event, key => services.get(key)?.connections);
        ratesVersion.value++;
        break;
      case 'history':
        addHistory(event.entries);
        break;
      case 'pulse':
        pulses.value = addPulse(pulses.value, event.pulse);
        break;
      case 'relist':
        this.#list?.request();
        break;
      case 'observed':
        break;
    }
    dispatch(event);
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
    this.#say('live', connection.value === 'connecting' ? '' : 'The page is live again.');
    this.#list = new ServiceList(signal);
    this.#list.request();
    if (!pageInfo.value) void readPageInfo(signal);
  }

  #say(state: ConnectionState, text: string): void {
    connection.value = state;
    if (text !== '') announce(text);
  }
}

/** A proxy that is older than the page does not know it. The page then only reads. */
async function readPageInfo(signal: AbortSignal): Promise<void> {
  pageInfo.value = await ask<PageInfo>('v1/page', {}, signal).catch(() => undefined);
}

/** Calls back when nobody has reset it for a while. */
class Watchdog {
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onSilence: () => void) {
    this.#onSilence = onSilence;
    this.reset();
  }

  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onSilence, MAX_SILENCE_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
