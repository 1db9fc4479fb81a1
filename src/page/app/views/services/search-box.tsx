import { useEffect, useRef } from 'preact/hooks';
import { SEARCH_ID } from '../../frame-keys.ts';

interface SearchBoxProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onLeave: () => void;
}

/** A phone's keyboard would hide the list. */
const HAS_KEYBOARD = '(hover: hover) and (min-width: 641px)';

/** These go to the list. Enter opens a Service that is alone in it. */
const LEAVING_KEYS: ReadonlySet<string> = new Set(['ArrowDown', 'PageDown', 'Enter']);

let wasFocused = false;

export function SearchBox({ text, onText, onLeave }: SearchBoxProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // Only when the page is loaded. Later, the frame puts the focus on the heading of the view.
    if (!wasFocused && matchMedia(HAS_KEYBOARD).matches) field.current?.focus();
    wasFocused = true;
  }, []);
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onText('');
    if (!LEAVING_KEYS.has(event.key)) return;
    event.preventDefault();
    const rows = document.querySelectorAll<HTMLElement>('.service-table [data-index]');
    const [only] = rows;
    if (event.key === 'Enter' && rows.length === 1) only?.click();
    else document.querySelector<HTMLElement>('.service-table [tabindex="0"]')?.focus();
  };
  return (
    <input
      ref={field}
      id={SEARCH_ID}
      class="search-box"
      type="search"
      aria-label="Search Services by name, address, port, endpoint or pod"
      placeholder="Name, IP, port, endpoint or pod   ( / )"
      autocomplete="off"
      spellcheck={false}
      value={text}
      onInput={event => onText(event.currentTarget.value)}
      onKeyDown={press}
      onBlur={onLeave}
    />
  );
}
