import { readFileSync } from 'node:fs';

/**
 * Looks how long the event loop is held at most, and how large the heap becomes. On a busy machine other programs hold it
 * up, too. So the processor time of this thread counts.
 */
export function watchLoop() {
  let [last, lastCpu, longestMs, longestCpuMs, peakHeap, isRunning] = [performance.now(), cpuMs(), 0, 0, 0, true];
  let turns = 0;
  const look = () => {
    longestMs = Math.max(longestMs, performance.now() - last);
    longestCpuMs = Math.max(longestCpuMs, cpuMs() - lastCpu);
    if (turns++ % 64 === 0) peakHeap = Math.max(peakHeap, process.memoryUsage().heapUsed);
    [last, lastCpu] = [performance.now(), cpuMs()];
    if (isRunning) setImmediate(look);
  };
  setImmediate(look);
  return {
    stop() {
      isRunning = false;
      return { longestMs, longestCpuMs, peakHeap };
    },
  };
}

/** The processor time of the main thread so far. */
function cpuMs(): number {
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
}
