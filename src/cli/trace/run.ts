import { systemClock, type Timer } from '../../lib/clock.ts';
import { type PacketSelection, type TracedPacket, Tracer } from '../../trace/index.ts';

export interface TraceRun {
  readonly selection: PacketSelection;
  /** 0: no limit. */
  readonly forMs: number;
  readonly packets: number;
  readonly signal: AbortSignal;
  started(): void;
  traced(packet: TracedPacket, number: number): void;
}

export interface TraceCounts {
  readonly packets: number;
  /** How often the kernel dropped trace messages. */
  readonly overruns: number;
}

/** Follows packets until enough were seen, the time is over, or the signal aborts. */
export async function runTrace({ selection, forMs, packets, signal, started, traced }: TraceRun): Promise<TraceCounts> {
  let seen = 0;
  let overruns = 0;
  let timer: Timer | undefined;
  let tracer: Tracer | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const handlers = {
        traced: (packet: TracedPacket) => {
          if (seen === packets) return;
          traced(packet, ++seen);
          if (seen === packets) resolve();
        },
        overrun: () => {
          overruns++;
        },
        failed: reject,
      };
      signal.addEventListener('abort', () => resolve(), { once: true });
      Tracer.open(selection, handlers).then(opened => {
        tracer = opened;
        if (signal.aborted) return resolve();
        started();
        // The socket alone does not keep the process running.
        timer = systemClock.setTimer(forMs > 0 ? forMs : Number.POSITIVE_INFINITY, resolve);
      }, reject);
    });
  } finally {
    timer?.cancel();
    await tracer?.close();
  }
  return { packets: seen, overruns };
}
