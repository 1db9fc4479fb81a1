import { useState } from 'preact/hooks';
import { announce } from '../state/announcements.ts';

const SHOWN_MS = 2000;

/** Copies a text. The button says for two seconds whether that worked, also to screen readers. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [result, setResult] = useState<string | undefined>(undefined);
  const copy = async () => {
    const isCopied = await copyText(text);
    const said = isCopied ? 'Copied' : 'Cannot copy';
    setResult(said);
    announce(said);
    setTimeout(() => setResult(undefined), SHOWN_MS);
  };
  return (
    <button type="button" class="copy-button" onClick={copy} title={text}>
      {result ?? label}
    </button>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Browsers give the clipboard only to pages of HTTPS and of localhost. The old way works everywhere. */
function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'spoken';
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}
