import type { ServiceRow } from '../../../inspect/index.ts';
import { askRows } from '../api.ts';
import { type ListedChange, Listing } from './listing.ts';
import { changeServices, historySince, listState, services } from './services.ts';

const RETRY_MS = 1000;

/** The first line of the answer. */
interface Head {
  readonly historySince?: string;
}

/** Asks for the list of Services when the stream wants it, one list at a time. It ends with its stream. */
export class ServiceList {
  readonly #signal: AbortSignal;
  #current: Listing | undefined;
  #isWanted = false;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  noteLive(change: ListedChange): void {
    this.#current?.noteLive(change);
  }

  /** Lists, or lists once more after the list that runs. */
  request(): void {
    this.#isWanted = true;
    if (!this.#current) void this.#run();
  }

  async #run(): Promise<void> {
    while (this.#isWanted && !this.#signal.aborted) {
      this.#isWanted = false;
      this.#current = new Listing();
      try {
        await this.#list(this.#current);
      } catch {
        // The stream is alive, so the proxy is busy, or it broke this list off.
        this.#isWanted = true;
        await new Promise(resolve => setTimeout(resolve, RETRY_MS));
      }
    }
    this.#current = undefined;
  }

  async #list(listing: Listing): Promise<void> {
    for await (const rows of askRows<ServiceRow, Head>('v1/services', {}, this.#signal, takeHead)) {
      changeServices({ rows: listing.take(rows), removed: [] });
    }
    changeServices({ rows: [], removed: listing.gone(services.keys()) });
    listState.value = 'complete';
  }
}

function takeHead({ historySince: since }: Head): void {
  if (since !== undefined) historySince.value = Date.parse(since);
}
