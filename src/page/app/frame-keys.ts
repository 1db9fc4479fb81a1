import { go } from './address.ts';
import { KeySequence } from './keys.ts';
import { isHelpOpen } from './parts/help.tsx';

/** The box that `/` focuses. Views that have it give it this id. */
export const SEARCH_ID = 'search';

/** Keys that work everywhere but in fields. */
export function listenForKeys(): void {
  const sequence = new KeySequence();
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isInField(event.target)) return;
    if (document.querySelector('dialog[open]')) return;
    const action = sequence.press(event.key, event.timeStamp);
    if (!action) return;
    event.preventDefault();
    switch (action.kind) {
      case 'help':
        isHelpOpen.value = true;
        return;
      case 'search':
        return focusSearch();
      case 'view':
        return go({ view: action.view });
    }
  });
}

function isInField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

function focusSearch(): void {
  const box = document.getElementById(SEARCH_ID);
  // At once, so that the next key is in the box already.
  if (box) {
    box.focus();
    return;
  }
  go({ view: 'services' });
  // The view is drawn only now, and the frame focuses its heading before.
  setTimeout(() => document.getElementById(SEARCH_ID)?.focus(), 50);
}
