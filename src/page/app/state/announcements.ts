import { signal } from '@preact/signals';

/** The last sentence for screen readers. The frame has it in an `aria-live` region. */
export const announcement = signal('');

export function announce(text: string): void {
  // The same sentence twice would be silent the second time.
  announcement.value = announcement.value === text ? `${text}\u00a0` : text;
}
