import { Fragment } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Entry, PlaceEntries } from './compare.ts';
import { diffTexts, type Segment } from './text-diff.ts';

const STATE_SIGNS: Readonly<Record<Entry['state'], string>> = {
  equal: '=',
  missing: '−',
  different: '≠',
  unexpected: '+',
};

const STATE_WORDS: Readonly<Record<Entry['state'], string>> = {
  equal: 'equal',
  missing: 'missing in the kernel',
  different: 'different in the kernel',
  unexpected: 'unexpected in the kernel',
};

/** An entry that is not as wanted: both texts side by side, with the parts that differ marked. */
export function DifferingEntry({ entry }: { readonly entry: Entry }) {
  const { kind, place, state, wanted, found } = entry;
  const diff = useMemo(
    () => (wanted !== undefined && found !== undefined ? diffTexts(wanted, found) : undefined),
    [wanted, found],
  );
  return (
    <div class={`entry ${state}`}>
      <p class="entry-head">
        <span class="badge bad">
          <span aria-hidden="true">{STATE_SIGNS[state]}</span> {STATE_WORDS[state]}
        </span>{' '}
        {kind} <span class="quiet">in</span> <span class="mono">{place}</span>
      </p>
      <div class="pair">
        <Side label="The proxy wants" text={wanted} segments={diff?.wanted} />
        <Side label="The kernel has" text={found} segments={diff?.found} />
      </div>
    </div>
  );
}

interface SideProps {
  readonly label: string;
  readonly text: string | undefined;
  readonly segments: readonly Segment[] | undefined;
}

function Side({ label, text, segments }: SideProps) {
  return (
    <div class="side">
      <span class="spoken side-label">{label}: </span>
      {text === undefined ? (
        <span class="quiet">nothing</span>
      ) : (
        <code>{segments ? segments.map(marked) : <mark>{text}</mark>}</code>
      )}
    </div>
  );
}

/** The space behind a word is not marked. */
function marked({ text, isSame }: Segment, index: number) {
  if (isSame) return text;
  const word = text.trimEnd();
  return (
    <Fragment key={index}>
      <mark>{word}</mark>
      {text.slice(word.length)}
    </Fragment>
  );
}

/** Entries are made only when the operator opens them. */
export function EqualEntries({ places, count }: { readonly places: readonly PlaceEntries[]; readonly count: number }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details class="equal" onToggle={event => setIsOpen(event.currentTarget.open)}>
      <summary>
        <span class="good" aria-hidden="true">
          ={' '}
        </span>
        {count === 1 ? '1 entry equal' : `${count.toLocaleString('en')} entries equal`}
      </summary>
      {isOpen &&
        places.map(({ place, entries }) => (
          <section key={place}>
            <p class="mono place">{place}</p>
            <ul>
              {entries.map(({ wanted, counted }, index) => (
                <li key={index}>
                  <code>{wanted}</code>
                  {counted !== undefined && <span class="quiet"> counted {counted.toLocaleString('en')}</span>}
                </li>
              ))}
            </ul>
          </section>
        ))}
    </details>
  );
}
