import { IdleButton } from '../../../parts/idle-button.tsx';
import './kernel.css';
import { useMemo } from 'preact/hooks';
import type { KernelDetail } from '../../../../../inspect/index.ts';
import { EmptyNote, ErrorNote, Loading } from '../../../parts/notes.tsx';
import { Age } from '../../../parts/time.tsx';
import { type Loaded, type Source, useSource } from '../load.ts';
import { AffinityTable } from './affinity-table.tsx';
import { comparePort, type PortComparison, portTitle, readingText } from './compare.ts';
import { DifferingEntry, EqualEntries } from './entries.tsx';

/** The kernel is asked again after a change, but not more often. */
const EVERY_MS = 2000;

/** What the kernel has, beside what the proxy wants. It is read only while this is shown. */
export function KernelTab({ service }: { readonly service: string }) {
  const source = useKernel(service);
  const { answer, error } = source.state.value;
  return (
    <div class="kernel">
      <ReadingBar state={source.state.value} readAgain={source.readAgain} />
      {error !== undefined && (
        <ErrorNote title="The page cannot read the kernel's entries." error={error} onRetry={source.readAgain} />
      )}
      {answer ? <Reading detail={answer} /> : error === undefined && <Loading what="the kernel's entries" lines={12} />}
    </div>
  );
}

export function useKernel(service: string): Source<KernelDetail> {
  return useSource<KernelDetail>({ path: 'v1/kernel', parameters: { service }, service, everyMs: EVERY_MS });
}

interface ReadingBarProps {
  readonly state: Loaded<KernelDetail>;
  readonly readAgain: () => void;
}

function ReadingBar({ state: { answer, at, isReading }, readAgain }: ReadingBarProps) {
  const isEqual = answer?.ports.every(({ entries }) => entries.every(({ state }) => state === 'equal')) ?? true;
  return (
    <div class="reading-bar">
      <span>
        {answer && (
          <>
            <span class={isEqual ? 'good' : 'bad'} aria-hidden="true">
              {isEqual ? '✓ ' : '✕ '}
            </span>
            {readingText(answer)}
          </>
        )}
      </span>
      <span class="quiet">
        {at !== undefined && (
          <>
            Read <Age time={at} />
          </>
        )}
      </span>
      <IdleButton isIdle={isReading} onPress={readAgain}>
        {isReading ? 'Reading …' : 'Read again'}
      </IdleButton>
    </div>
  );
}

function Reading({ detail }: { readonly detail: KernelDetail }) {
  const comparisons = useMemo(() => detail.ports.map(comparePort), [detail]);
  if (comparisons.length === 0) {
    return <EmptyNote title="The proxy wants nothing in the kernel for this Service." />;
  }
  return (
    <>
      {comparisons.map(comparison => (
        <Port key={portTitle(comparison.port)} comparison={comparison} isAlone={comparisons.length === 1} />
      ))}
    </>
  );
}

function Port({ comparison, isAlone }: { readonly comparison: PortComparison; readonly isAlone: boolean }) {
  const { port, differing, equal, equalCount } = comparison;
  return (
    <section class="kernel-port">
      {!isAlone && <h2>{portTitle(port)}</h2>}
      {port.incomplete !== undefined && (
        <p class="warn">
          <span aria-hidden="true">! </span>Not everything was read: {port.incomplete}.
        </p>
      )}
      {differing.length > 0 && (
        <div class="differing">
          <div class="pair-head" aria-hidden="true">
            <span>The proxy wants</span>
            <span>The kernel has</span>
          </div>
          {differing.map((entry, index) => (
            // Two entries may be equal in every field.
            <DifferingEntry key={index} entry={entry} />
          ))}
        </div>
      )}
      {equalCount > 0 && <EqualEntries places={equal} count={equalCount} />}
      {port.affinity.length > 0 && <AffinityTable clients={port.affinity} />}
    </section>
  );
}
