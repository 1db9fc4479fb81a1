import type { KernelError } from '../../../kernel/errors.ts';

/** Something of a service port that the kernel would not take. */
export interface Refused {
  /** The virtual server, or the element as `SET element`. */
  readonly object: string;
  readonly error: KernelError;
  /** The kernel has something else than what we believe, so it must be read again. */
  readonly isStale: boolean;
  /** The scheduler that the kernel lacks. */
  readonly scheduler?: string | undefined;
}

/** What was written, by kind: for a summary. */
export class Written {
  readonly #counts = new Map<string, number>();

  add(what: string, count = 1): void {
    if (count > 0) this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  /** `added virtual server ×2, added element in KUBE-CLUSTER-IP ×2` */
  toString(): string {
    return [...this.#counts].map(([what, count]) => `${what} ×${count}`).join(', ');
  }
}

/** Tells what one exchange with the kernel took. */
export type Measured = (objects: number, milliseconds: number) => void;

/** Does something that takes so many messages, and tells how long it took. */
export async function timed<T>(measured: Measured, messages: number, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await work();
  } finally {
    measured(messages, performance.now() - start);
  }
}
