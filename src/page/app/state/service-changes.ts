import { onLive } from './live.ts';
import { keyOf } from './service-index.ts';

/** Calls back when a Service changed, or when the page may have missed a change. Returns a function that ends this. */
export function onServiceChange(service: string, changed: () => void): () => void {
  const ends = [
    onLive('rows', ({ rows, removed }) => {
      if (removed.includes(service) || rows.some(row => keyOf(row) === service)) changed();
    }),
    onLive('relist', changed),
    onLive('hello', changed),
  ];
  return () => {
    for (const end of ends) end();
  };
}
