import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { services } from '../../state/services.ts';
import type { AskState } from './ask-view.tsx';
import { type AskedTexts, isCallerText, suggestions } from './question.ts';

interface Props {
  readonly asked: AskedTexts;
  readonly state: AskState;
  readonly onAsk: (asked: AskedTexts) => void;
}

export function AskForm({ asked, state, onAsk }: Props) {
  const from = useSignal(asked.from);
  const to = useSignal(asked.to);
  const isTyping = useSignal(false);
  useEffect(() => {
    from.value = asked.from;
    to.value = asked.to;
  }, [asked.from, asked.to]);
  const error = state.phase === 'failed' && state.error?.status === 400 ? state.error.message : undefined;
  const isCallerWrong = error !== undefined && !isCallerText(state.asked.from);
  const submit = (event: Event) => {
    event.preventDefault();
    const texts = { from: from.value.trim(), to: to.value.trim() };
    if (texts.to !== '') onAsk(texts);
  };
  return (
    <form class="ask-form" onSubmit={submit}>
      <Field
        id="ask-from"
        label="From"
        hint="POD, NS/POD, IP, pod, node or outside"
        value={from.value}
        options={['pod', 'node', 'outside']}
        error={isCallerWrong ? error : undefined}
        onValue={text => {
          from.value = text;
        }}
      />
      <Field
        id="ask-to"
        label="To"
        hint="SERVICE[:PORT], NS/SERVICE[:PORT] or IP:PORT, with /udp or /sctp"
        value={to.value}
        options={isTyping.value ? suggestions(to.value, services) : []}
        error={isCallerWrong ? undefined : error}
        isRequired
        onValue={text => {
          to.value = text;
        }}
        onFocus={hasFocus => {
          isTyping.value = hasFocus;
        }}
      />
      <button type="submit" class="primary">
        Explain
      </button>
    </form>
  );
}

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly error: string | undefined;
  readonly isRequired?: boolean;
  readonly onValue: (text: string) => void;
  readonly onFocus?: (hasFocus: boolean) => void;
}

function Field({ id, label, hint, value, options, error, isRequired = false, onValue, onFocus }: FieldProps) {
  return (
    <div class="ask-field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        value={value}
        list={`${id}-options`}
        required={isRequired}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-hint`}
        onFocus={() => onFocus?.(true)}
        onBlur={() => onFocus?.(false)}
        onInput={event => onValue(event.currentTarget.value)}
      />
      <datalist id={`${id}-options`}>
        {options.map(option => (
          <option key={option} value={option} />
        ))}
      </datalist>
      <p
        id={`${id}-hint`}
        class={error === undefined ? 'hint' : 'hint wrong'}
        role={error === undefined ? undefined : 'alert'}
      >
        {error === undefined ? hint : `✕ ${error}`}
      </p>
    </div>
  );
}
