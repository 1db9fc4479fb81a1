import { signal } from '@preact/signals';

/** Milliseconds since 1970, once a second while the page is visible. What shows an age reads this. */
export const now = signal(Date.now());

export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, 1000);
  document.addEventListener('visibilitychange', () => {
    now.value = Date.now();
  });
}
