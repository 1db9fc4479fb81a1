import './help.css';
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { KEY_HELP } from '../keys.ts';

export const isHelpOpen = signal(false);

export function HelpButton() {
  const open = () => {
    isHelpOpen.value = true;
  };
  return (
    <button type="button" class="plain icon-button" aria-label="Keys" title="Keys (?)" onClick={open}>
      <span aria-hidden="true">?</span>
    </button>
  );
}

/** All keys. The dialog keeps the focus, Esc closes it, and the focus goes back. */
export function HelpDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = isHelpOpen.value;
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  const close = () => {
    isHelpOpen.value = false;
  };
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close}>
      <h2 id="help-title">Keys</h2>
      <dl>
        {KEY_HELP.map(({ keys, about }) => (
          <div key={about}>
            <dt>
              {keys.map(key => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={close}>
        Close
      </button>
    </dialog>
  );
}
