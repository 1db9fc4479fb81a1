import { useEffect, useRef } from 'preact/hooks';
import { blockAddress } from './block-section.tsx';
import type { ShownBlock, ShownGroup } from './shown-blocks.ts';

/** Groups with more blocks than this begin closed. */
const MAX_OPEN = 30;

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
        <details key={name} open={blocks.length <= MAX_OPEN || blocks.some(({ id }) => id === current)}>
          <summary>
            {name} <span class="quiet">{blocks.length}</span>
          </summary>
          <ul>
            {blocks.map(block => (
              <li key={block.id}>
                <Entry block={block} isCurrent={block.id === current} />
              </li>
            ))}
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
