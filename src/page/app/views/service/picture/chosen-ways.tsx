import type { PortDetail } from '../../../../../inspect/index.ts';
import { formatAddress } from '../../../address.ts';
import { capitalized } from '../../../parts/texts.ts';
import { explainTarget } from '../head/explain-target.ts';
import { groupWays } from './group-ways.ts';
import type { Picture, Way } from './model.ts';
import { isChosen, type Selection } from './selection.ts';
import { Sign } from './sign.tsx';
import { callersText } from './words.ts';

interface ChosenWaysProps {
  /** `ns/name` */
  readonly service: string;
  readonly picture: Picture;
  readonly port: PortDetail;
  readonly selection: Selection;
  readonly onShowAll: () => void;
}

/** What the chosen ways mean, in sentences. */
export function ChosenWays({ service, picture, port, selection, onShowAll }: ChosenWaysProps) {
  if (selection.from === undefined && selection.to === undefined) {
    return <p class="chosen quiet">{hintText(port)} Choose a caller or an address to see its way.</p>;
  }
  const ways = picture.ways.filter(way => isChosen(way, selection));
  const [only] = ways.length === 1 ? ways : [];
  const remarks = only?.outcome.kind === 'answered' ? only.outcome.remarks : [];
  return (
    <div class="chosen" aria-live="polite">
      <ul>
        {groupWays(ways).map(({ callers, targets, text, outcome }) => (
          <li key={text}>
            <Sign outcome={outcome} /> A connection from <strong>{callersText(callers)}</strong> to{' '}
            <strong class="mono">{targets.map(targetText).join(', ')}</strong> {text}.
          </li>
        ))}
      </ul>
      {remarks.map(({ text }) => (
        <p key={text} class="quiet">
          Why: {text}.
        </p>
      ))}
      <p class="toolbar">
        {only && (
          <a href={formatAddress({ view: 'ask', parameters: questionOf(only, service, picture, port) })}>
            Ask why, step by step
          </a>
        )}
        <button type="button" onClick={onShowAll}>
          Show all ways
        </button>
      </p>
    </div>
  );
}

function targetText(id: string): string {
  return id.includes(':') ? id : `node port ${id}`;
}

function hintText({ affinitySeconds, topology }: PortDetail): string {
  const affinity = affinitySeconds === undefined ? '' : `A client keeps its endpoint for ${affinitySeconds} s. `;
  return `${affinity}${topology === undefined ? '' : `${capitalized(topology)}.`}`;
}

/** The parameters of the view that asks. */
function questionOf({ from, to }: Way, service: string, { frontends }: Picture, port: PortDetail) {
  const [namespace = '', name = ''] = service.split('/');
  const frontend = frontends.find(({ id }) => id === to)?.detail;
  return { from, to: explainTarget({ namespace, name, port, frontend }) };
}
