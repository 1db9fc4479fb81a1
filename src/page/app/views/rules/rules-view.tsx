import { capitalized } from '../../parts/texts.ts';
import './rules.css';
import { useEffect, useState } from 'preact/hooks';
import type { RulesAnswer } from '../../../../inspect/index.ts';
import { address } from '../../address.ts';
import { EmptyNote, ErrorNote, Loading } from '../../parts/notes.tsx';
import { BlockSection, elementId } from './block-section.tsx';
import { Outline } from './outline.tsx';
import { type RulesData, useRules } from './rules-data.ts';
import { RulesToolbar } from './rules-toolbar.tsx';
import { firstPages, groupsOf, type ShownBlock, shownBlocks } from './shown-blocks.ts';

/** The whole program of the mode, as a listing whose names are links. */
export function RulesView() {
  const { family, service } = address.value.parameters;
  // An unknown family is the first one.
  const data = useRules(family === 'IPv4' || family === 'IPv6' ? family : undefined, service);
  return (
    <div class="view rules">
      <div class="view-head">
        <h1>Rules</h1>
        <Summary data={data} />
      </div>
      <RulesToolbar answer={data.answer} />
      <Content data={data} />
    </div>
  );
}

/** What the proxy wants, and how much of it there is. */
function Summary({ data: { answer, error, isLoading } }: { readonly data: RulesData }) {
  const text =
    answer && error === undefined ? `${answer.mode} mode, ${answer.family}: what the proxy wants in the kernel` : '';
  return (
    <span class="quiet" aria-busy={isLoading}>
      {text}
    </span>
  );
}

function Content({ data: { answer, error, retry } }: { readonly data: RulesData }) {
  if (error !== undefined) return <ErrorNote title="The rules cannot be listed." error={error} onRetry={retry} />;
  if (!answer) return <Loading what="rules" lines={20} />;
  if (answer.blocks.length === 0) return <EmptyNote title="There are no rules.">{answer.incomplete}</EmptyNote>;
  return <Listing answer={answer} />;
}

function Listing({ answer }: { readonly answer: RulesAnswer }) {
  const { q = '', way, block } = address.value.parameters;
  const [pages, setPages] = useState(1);
  const isWayOnly = way === '1' && answer.service !== undefined;
  const shown = shownBlocks(answer.blocks, { text: q, isWayOnly });
  useBlockFocus(block, shown);
  if (shown.length === 0) {
    return <EmptyNote title="No block and no line has this text.">Change or clear the filter.</EmptyNote>;
  }
  const drawn = firstPages(shown, pages, block);
  return (
    <div class="rules-columns">
      <Outline groups={groupsOf(shown)} current={block} />
      <div class="rules-listing">
        <Remarks answer={answer} />
        {groupsOf(drawn).map(group => (
          <section key={group.name} aria-label={group.name}>
            <h2 class="rules-group">{group.name}</h2>
            {group.blocks.map(one => (
              <BlockSection key={one.id} block={one} isCurrent={one.id === block} />
            ))}
          </section>
        ))}
        {drawn.length < shown.length && (
          <button type="button" onClick={() => setPages(pages + 1)}>
            Show more: {shown.length - drawn.length} blocks follow
          </button>
        )}
      </div>
    </div>
  );
}

function Remarks({ answer: { notListed = [], incomplete } }: { readonly answer: RulesAnswer }) {
  const texts = notListed.map(({ what, count }) => `${count} ${what}`);
  return (
    <>
      {incomplete !== undefined && <p class="note warn">{`${capitalized(incomplete)}.`}</p>}
      {texts.length > 0 && <p class="quiet">Not listed: {texts.join(', ')}.</p>}
    </>
  );
}

/** Shows the block that the address names, when the address changes and when the block comes. */
function useBlockFocus(block: string | undefined, shown: readonly ShownBlock[]): void {
  const isThere = block !== undefined && shown.some(({ id }) => id === block);
  useEffect(() => {
    if (!isThere) return;
    const element = document.getElementById(elementId(block));
    element?.scrollIntoView({ block: 'start' });
    element?.focus({ preventScroll: true });
  }, [block, isThere]);
}
