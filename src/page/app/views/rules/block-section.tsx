import type { ListedPart } from '../../../../inspect/index.ts';
import { address, formatAddress, serviceAddress } from '../../address.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { blockText, countText, type NumberedLine, type ShownBlock } from './shown-blocks.ts';

/** The id of the block's element. Ids of blocks have spaces. */
export function elementId(block: string): string {
  return `block-${encodeURIComponent(block)}`;
}

/** The address of this view with another block. */
export function blockAddress(block: string): string {
  const { parameters } = address.value;
  return formatAddress({ view: 'rules', parameters: { ...parameters, block } });
}

/** A chain, a map, a set: its lines, what it is for, and how to list it in the kernel. */
export function BlockSection({ block, isCurrent }: { readonly block: ShownBlock; readonly isCurrent: boolean }) {
  const { id, kind, name, about, head, command, lines, servicePort } = block;
  return (
    <article
      id={elementId(id)}
      class={`rules-block${isCurrent ? ' current' : ''}`}
      tabIndex={-1}
      aria-label={`${kind} ${name}`}
    >
      <header>
        <h3 class="mono">
          <span class="quiet">{kind}</span> {name}
        </h3>
        {servicePort !== undefined && <ServicePort name={servicePort} />}
        <span class="quiet">{countText(block)}</span>
        <span class="rules-copies">
          {command !== undefined && (
            <>
              <code class="quiet">{command}</code>
              <CopyButton text={command} label="Copy command" />
            </>
          )}
          <CopyButton text={blockText(block)} label="Copy block" />
        </span>
      </header>
      <p class="rules-about quiet">
        {about} {head !== undefined && <span class="mono">{head}</span>}
      </p>
      {lines.length > 0 && (
        <ol class="mono rules-lines">
          {lines.map(line => (
            <Line key={line.number} line={line} />
          ))}
        </ol>
      )}
    </article>
  );
}

function ServicePort({ name }: { readonly name: string }) {
  const [key = ''] = name.split(':', 1);
  return (
    <a class="badge accent" href={serviceAddress(key)}>
      {name}
    </a>
  );
}

/** The list counts the lines, so that a copied selection has no numbers. The parts of a line never move. */
function Line({ line: { parts, service, number } }: { readonly line: NumberedLine }) {
  return (
    <li value={number} class={service === undefined ? undefined : 'of-service'} title={service}>
      {parts.map(linked)}
    </li>
  );
}

function linked(part: ListedPart, index: number) {
  if (typeof part === 'string') return part;
  return (
    <a key={index} href={blockAddress(part.block)}>
      {part.text}
    </a>
  );
}
