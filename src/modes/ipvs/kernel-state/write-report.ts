import type { KernelError } from '../../../kernel/errors.ts';

/** An object that the kernel refused. */
export interface RefusedObject {
  /** The id of the virtual server or of the element, or the address. */
  readonly id: string;
  readonly error: KernelError;
  /** The kernel has something else than the writer believes, so the writer must read it again. */
  readonly isStale: boolean;
  /** The scheduler that the kernel lacks. */
  readonly missingScheduler?: string | undefined;
}

/** Counts what a write did, for people. */
export class WriteSummary {
  readonly #counts = new Map<string, number>();

  add(action: string, count = 1): void {
    if (count > 0) this.#counts.set(action, (this.#counts.get(action) ?? 0) + count);
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  /** `added virtual server ×2, added element in KUBE-CLUSTER-IP ×2` */
  toString(): string {
    return [...this.#counts].map(([action, count]) => `${action} ×${count}`).join(', ');
  }
}

/** Receives the size and the duration of each exchange with the kernel. */
export type BatchObserver = (messages: number, milliseconds: number) => void;

/** Measures work that sends this many messages. */
export async function measureBatch<T>(observe: BatchObserver, messages: number, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await work();
  } finally {
    observe(messages, performance.now() - start);
  }
}
