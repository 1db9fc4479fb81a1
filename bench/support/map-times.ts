import koffi from 'koffi';
import { BpfMap, MappedArray } from '../../src/kernel/bpf/index.ts';

const CALIBRATION_CALLS = 200_000;

/** How long this process writes to maps of the kernel: in system calls, and to memory that it shares with the kernel. */
export class MapTimes {
  #systemCallsMs = 0;
  #systemCallsCpuMs = 0;
  #memoryMs = 0;
  #memoryWrites = 0;
  /** What measuring adds to one writing to memory. */
  readonly #overheadMs: number;

  private constructor() {
    const nothing = { work() {} };
    this.#watchMemory(nothing, ['work']);
    // The first calls only make the code warm.
    for (let i = 0; i < CALIBRATION_CALLS; i++) nothing.work();
    this.reset();
    for (let i = 0; i < CALIBRATION_CALLS; i++) nothing.work();
    this.#overheadMs = this.#memoryMs / CALIBRATION_CALLS;
    this.reset();
  }

  static watch(): MapTimes {
    const times = new MapTimes();
    times.#watchSystemCalls(BpfMap.prototype, ['update', 'remove', 'updateBatch', 'removeBatch']);
    times.#watchMemory(MappedArray.prototype, ['write', 'store']);
    return times;
  }

  reset(): void {
    this.#systemCallsMs = 0;
    this.#systemCallsCpuMs = 0;
    this.#memoryMs = 0;
    this.#memoryWrites = 0;
  }

  /** By the clock. For a short time, of which the median counts. */
  get ms(): number {
    return this.#systemCallsMs + this.#ownMemoryMs;
  }

  /** By the processor time of the thread that writes, so that other programs and threads do not matter. */
  get cpuMs(): number {
    return this.#systemCallsCpuMs + this.#ownMemoryMs;
  }

  /** Writing to memory is too short for the clock of processor time. */
  get #ownMemoryMs(): number {
    return Math.max(0, this.#memoryMs - this.#memoryWrites * this.#overheadMs);
  }

  #watchSystemCalls<T extends object>(object: T, names: readonly (keyof T)[]): void {
    wrap(object, names, work => {
      const before = threadMs();
      const start = performance.now();
      try {
        return work();
      } finally {
        this.#systemCallsMs += performance.now() - start;
        this.#systemCallsCpuMs += threadMs() - before;
      }
    });
  }

  #watchMemory<T extends object>(object: T, names: readonly (keyof T)[]): void {
    wrap(object, names, work => {
      const start = performance.now();
      try {
        return work();
      } finally {
        this.#memoryMs += performance.now() - start;
        this.#memoryWrites += 1;
      }
    });
  }
}

const CLOCK_THREAD_CPUTIME_ID = 3;
const clockGettime = koffi.load('libc.so.6').func('int clock_gettime(int clock, _Out_ int64_t *time)');
const time = new BigInt64Array(2);

/** The processor time of this thread. That of the process would count the garbage collector's threads, too. */
function threadMs(): number {
  clockGettime(CLOCK_THREAD_CPUTIME_ID, time);
  const [seconds = 0n, nanoseconds = 0n] = time;
  return Number(seconds) * 1000 + Number(nanoseconds) / 1e6;
}

function wrap<T extends object>(
  object: T,
  names: readonly (keyof T)[],
  around: (work: () => unknown) => unknown,
): void {
  for (const name of names) {
    const original = object[name] as (...args: unknown[]) => unknown;
    const wrapped = function (this: unknown, ...args: unknown[]): unknown {
      return around(() => original.apply(this, args));
    };
    Object.assign(object, { [name]: wrapped });
  }
}
