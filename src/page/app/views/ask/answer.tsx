import type { Explanation, Step, StepVerdict, Verdict } from '../../../../explain/index.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { IdleButton } from '../../parts/idle-button.tsx';
import { EmptyNote, ErrorNote, Loading } from '../../parts/notes.tsx';
import { Age } from '../../parts/time.tsx';
import { pageInfo } from '../../state/page-info.ts';
import type { AskState } from './ask-view.tsx';
import { explainCommand } from './question.ts';
import { Trace } from './trace.tsx';
import { wayOf } from './way.ts';
import { WayLine } from './way-line.tsx';

interface Props {
  readonly state: AskState;
  readonly onAgain: (probe: boolean) => void;
}

export function Answer({ state, onAgain }: Props) {
  const { phase, answer, error } = state;
  if (phase === 'none') {
    return (
      <EmptyNote title="Name a Service or an address">The answer says what a new connection gets, and why.</EmptyNote>
    );
  }
  if (phase === 'failed') {
    // The form shows what is wrong with the question.
    if (error?.status === 400) return null;
    return <ErrorNote title="The proxy did not answer the question." error={error} onRetry={() => onAgain(false)} />;
  }
  if (!answer) return <Loading what="the answer" lines={10} />;
  return (
    <div class="ask-answer" aria-busy={phase === 'asking'}>
      <VerdictBox answer={answer} />
      <Tools state={state} onAgain={onAgain} />
      <WayLine way={wayOf(answer)} />
      <ol class="ask-steps">
        {answer.steps.map(step => (
          <StepRow key={step.number} step={step} />
        ))}
      </ol>
      <Trace answer={answer} />
    </div>
  );
}

const VERDICTS: Readonly<Record<Verdict, { readonly icon: string; readonly word: string; readonly tone: string }>> = {
  works: { icon: '✓', word: 'Works', tone: 'good' },
  broken: { icon: '✕', word: 'Broken', tone: 'bad' },
  unknown: { icon: '?', word: 'Unknown', tone: 'warn' },
};

function VerdictBox({ answer: { verdict, summary, next } }: { readonly answer: Explanation }) {
  const { icon, word, tone } = VERDICTS[verdict];
  return (
    <div class={`ask-verdict ${tone}`} role="status">
      <h2>
        <span aria-hidden="true">{icon}</span> {word}
      </h2>
      <p>{summary}</p>
      {next && (
        <p class="next">
          <strong>Next:</strong> {next.text}
          {next.command !== undefined && (
            <span class="command">
              <code>{next.command}</code>
              <CopyButton text={next.command} />
            </span>
          )}
        </p>
      )}
    </div>
  );
}

function Tools({ state, onAgain }: Props) {
  const info = pageInfo.value;
  const isAsking = state.phase === 'asking';
  const mayProbe = info?.allows.includes('probe') === true;
  return (
    <div class="toolbar">
      <IdleButton isIdle={isAsking} onPress={() => onAgain(false)}>
        Ask again
      </IdleButton>
      {mayProbe && (
        <IdleButton isIdle={isAsking} onPress={() => onAgain(true)}>
          {isAsking && state.isProbing ? 'Probing…' : 'Probe endpoints'}
        </IdleButton>
      )}
      <CopyButton
        text={explainCommand(info?.command ?? 'kube-proxy', state.asked, state.isProbing)}
        label="Copy as kube-proxy explain"
      />
      {state.at !== undefined && (
        <span class="quiet">
          answered <Age time={state.at} />
        </span>
      )}
      {info && !mayProbe && (
        <span class="quiet">
          Probing is off: <code>--page-allow=probe</code> allows it.
        </span>
      )}
    </div>
  );
}

const STEPS: Readonly<Record<StepVerdict, { readonly icon: string; readonly word: string; readonly tone: string }>> = {
  good: { icon: '✓', word: 'good', tone: 'good' },
  bad: { icon: '✕', word: 'bad', tone: 'bad' },
  note: { icon: 'i', word: 'note', tone: 'note' },
  unknown: { icon: '?', word: 'unknown', tone: 'warn' },
};

function StepRow({ step: { number, topic, verdict, text, details } }: { readonly step: Step }) {
  const { icon, word, tone } = STEPS[verdict];
  return (
    <li>
      <span class="number">{number}</span>
      <span class={`verdict ${tone}`}>
        <span aria-hidden="true">{icon}</span> {word}
      </span>
      <span class="topic">{topic}</span>
      <div class="text">
        <p>{text}</p>
        {details.length > 0 && (
          <details open={verdict === 'bad'}>
            <summary>
              {details.length} {details.length === 1 ? 'line' : 'lines'} more
            </summary>
            <pre>{details.join('\n')}</pre>
          </details>
        )}
      </div>
    </li>
  );
}
