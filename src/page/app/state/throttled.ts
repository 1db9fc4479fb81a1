import { effect, type ReadonlySignal, signal } from '@preact/signals';

/** Follows a signal, at most once in `ms`. The first value comes at once, and the last value always arrives. */
export function throttled<Value>(source: ReadonlySignal<Value>, ms: number): ReadonlySignal<Value> {
  const shown = signal(source.peek());
  let isWaiting = false;
  effect(() => {
    if (isWaiting || shown.peek() === source.value) return;
    shown.value = source.value;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      shown.value = source.peek();
    }, ms);
  });
  return shown;
}
