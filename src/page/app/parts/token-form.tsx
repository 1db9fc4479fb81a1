import { useState } from 'preact/hooks';
import { deniedReason, setToken, token } from '../state/token.ts';

/** Asks for the token that the proxy wants. The page forgets it with the tab. */
export function TokenForm() {
  const [text, setText] = useState('');
  const isRefused = token.value !== undefined;
  const submit = (event: Event) => {
    event.preventDefault();
    const given = text.trim();
    if (given !== '') setToken(given);
  };
  return (
    <form class="view token-form" onSubmit={submit}>
      <h1>This page needs a token</h1>
      <p class="quiet">
        The proxy was started with a file that has the token. The page keeps the token until this tab is closed.
      </p>
      {isRefused && (
        <p class="note bad" role="alert">
          <strong>The proxy refused the token.</strong>
          <span>{deniedReason.value}</span>
        </p>
      )}
      <div class="toolbar">
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          required
          value={text}
          ref={focusOnce}
          onInput={event => setText(event.currentTarget.value)}
        />
        <button type="submit" class="primary">
          Open
        </button>
      </div>
    </form>
  );
}

function focusOnce(field: HTMLInputElement | null): void {
  if (field && document.activeElement !== field) field.focus();
}
