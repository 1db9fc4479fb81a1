import type { ComponentChildren } from 'preact';
import { errorText } from '../../../lib/error-text.ts';
import { ApiError } from '../api.ts';

interface ErrorNoteProps {
  /** What the page could not do: `The kernel's entries cannot be read.` */
  readonly title: string;
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}

/** What happened, what to do, and a button to retry. */
export function ErrorNote({ title, error, onRetry }: ErrorNoteProps) {
  return (
    <div class="note bad" role="alert">
      <strong>
        <span aria-hidden="true">✕ </span>
        {title}
      </strong>
      <span>{errorText(error)}</span>
      <span class="quiet">{adviceFor(error)}</span>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Retry
        </button>
      )}
    </div>
  );
}

function adviceFor(error: unknown): string {
  if (!(error instanceof ApiError)) return '';
  if (error.status === undefined) return 'Check that the proxy runs and that this page can reach it.';
  if (error.status === 429) return 'The proxy is busy. Retry in a moment.';
  if (error.status === 404) return 'The proxy may be older than this page.';
  if (error.status >= 500) return "The proxy's log may say more.";
  return '';
}

/** There is nothing to show, and why. */
export function EmptyNote({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="note">
      <strong>{title}</strong>
      {children && <span class="quiet">{children}</span>}
    </div>
  );
}

/** Takes the room of the data that will come, so that nothing moves then. `lines` is the height in lines of text. */
export function Loading({ what = 'data', lines = 3 }: { readonly what?: string; readonly lines?: number }) {
  return (
    <div class="loading quiet" role="status" ref={element => setHeight(element, lines)}>
      Loading {what} …
    </div>
  );
}

function setHeight(element: HTMLElement | null, lines: number): void {
  if (element) element.style.minHeight = `${lines * 20}px`;
}
