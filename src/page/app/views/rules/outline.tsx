import { useEffect, useRef } from 'preact/hooks';
import { blockAddress } from './block-section.tsx';
import type { ShownBlock, ShownGroup } from './shown-blocks.ts';

/** The most entries of a group: the groups that follow must not be out of reach. */
const MAX_ENTRIES = 60;

/** All blocks by hook, beside the listing or above it. */
export function Outline({
  groups,
  current,
}: {
  readonly groups: readonly ShownGroup[];
  readonly current?: string | undefined;
}) {
  const nav = useRef<HTMLElement>(null);
  useEffect(() => (nav.current === null ? undefined : showCurrent(nav.current)), [current]);
  return (
    <nav ref={nav} class="rules-outline" aria-label="Blocks">
      {groups.map(({ name, blocks }) => (
        <details key={name} open>
          <summary>
            {name} <span class="quiet">{blocks.length}</span>
          </summary>
          <ul>
            {blocks
              .filter(({ id }, i) => i < MAX_ENTRIES || id === current)
              .map(block => (
                <li key={block.id}>
                  <Entry block={block} isCurrent={block.id === current} />
                </li>
              ))}
            {blocks.length > MAX_ENTRIES && <li class="rules-more quiet">and {blocks.length - MAX_ENTRIES} more</li>}
          </ul>
        </details>
      ))}
    </nav>
  );
}

function Entry({ block, isCurrent }: { readonly block: ShownBlock; readonly isCurrent: boolean }) {
  const { id, kind, name, isOfService } = block;
  return (
    <a class="mono" href={blockAddress(id)} aria-current={isCurrent ? 'location' : undefined} title={`${kind} ${name}`}>
      <span class="rules-kind quiet">{kind}</span> <span class="rules-name">{name}</span>
      {isOfService && <span class="rules-dot" role="img" aria-label="has lines of the Service" />}
    </a>
  );
}

/** Scrolls only the outline. On a phone it stands above the listing, which must stay where it is. */
function showCurrent(nav: HTMLElement): void {
  const entry = nav.querySelector('[aria-current]');
  if (!entry) return;
  const [outer, inner] = [nav.getBoundingClientRect(), entry.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) {
    nav.scrollTop += inner.top - outer.top - outer.height / 2;
  }
}
