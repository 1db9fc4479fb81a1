import { effect, type ReadonlySignal, signal } from '@preact/signals';
import { type Clock, systemClock } from '../../../lib/clock.ts';

/** Follows a signal, at most once in `ms`. The first value comes at once, and the last value always arrives. */
export function throttled<Value>(
  source: ReadonlySignal<Value>,
  ms: number,
  clock: Clock = systemClock,
): ReadonlySignal<Value> {
  const shown = signal(source.peek());
  let isWaiting = false;
  const show = () => {
    isWaiting = shown.peek() !== source.peek();
    if (!isWaiting) return;
    shown.value = source.peek();
    clock.setTimer(ms, show);
  };
  effect(() => {
    // The effect must read the signal each time, or it would never run again.
    void source.value;
    if (!isWaiting) show();
  });
  return shown;
}
