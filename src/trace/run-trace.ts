import type { NetworkNamespace } from '../kernel/netns.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { PacketSelection } from './selection.ts';
import type { TracedPacket } from './traced-packet.ts';
import { Tracer, type TracerHandlers, type TracerOptions } from './tracer.ts';

/** Opens what follows packets until it is closed. */
export type OpenTracer = (
  selection: PacketSelection,
  handlers: TracerHandlers,
  options: TracerOptions,
) => Promise<Pick<Tracer, 'close'>>;

export interface TraceRun {
  readonly selection: PacketSelection;
  /** 0: no limit. */
  readonly forMs: number;
  readonly packets: number;
  readonly signal: AbortSignal;
  /** By default the namespace of this process. */
  readonly namespace?: NetworkNamespace | undefined;
  readonly clock?: Clock;
  /** By default a tracer of the kernel. */
  readonly open?: OpenTracer;
  started(): void;
  traced(packet: TracedPacket, number: number): void;
}

export interface TraceCounts {
  readonly packets: number;
  /** How often the kernel dropped trace messages. */
  readonly overruns: number;
}

/** Follows packets until enough were seen, the time is over, or the signal aborts. */
export async function runTrace(run: TraceRun): Promise<TraceCounts> {
  const { selection, packets, namespace, open = Tracer.open, traced } = run;
  const end = new TraceEnd();
  let seen = 0;
  let overruns = 0;
  const handlers = {
    traced: (packet: TracedPacket) => {
      if (seen === packets) return;
      traced(packet, ++seen);
      if (seen === packets) end.reach();
    },
    overrun: () => {
      overruns++;
    },
    failed: (error: Error) => end.reach(error),
  };
  const tracer = await open(selection, handlers, { namespace });
  try {
    await end.wait(run);
  } finally {
    await tracer.close();
  }
  return { packets: seen, overruns };
}

/** The end of a trace. It may come before anything waits for it. */
class TraceEnd {
  #isReached = false;
  #error: Error | undefined;
  #wake: () => void = () => {};

  reach(error?: Error): void {
    this.#isReached = true;
    this.#error ??= error;
    this.#wake();
  }

  /** Throws the error that ended the trace. */
  async wait({ forMs, signal, clock = systemClock, started }: TraceRun): Promise<void> {
    const abort = () => this.reach();
    if (signal.aborted) abort();
    else started();
    signal.addEventListener('abort', abort, { once: true });
    // The socket alone does not keep the process running.
    const timer = clock.setTimer(forMs > 0 ? forMs : Number.POSITIVE_INFINITY, abort);
    try {
      if (!this.#isReached) await new Promise<void>(resolve => (this.#wake = resolve));
      if (this.#error) throw this.#error;
    } finally {
      signal.removeEventListener('abort', abort);
      timer.cancel();
    }
  }
}
