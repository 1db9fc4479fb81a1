import type { PortDetail } from '../../../../../inspect/index.ts';
import { formatAddress } from '../../../address.ts';
import { isChosen, type Picture, type Selection, type Way } from './model.ts';
import { Sign } from './sign.tsx';
import { CALLER_SUBJECTS, outcomeText } from './words.ts';

interface ChosenWaysProps {
  /** `ns/name` */
  readonly service: string;
  readonly picture: Picture;
  readonly port: PortDetail;
  readonly selection: Selection;
}

/** What the chosen ways mean, in sentences. */
export function ChosenWays({ service, picture, port, selection }: ChosenWaysProps) {
  if (selection.from === undefined && selection.to === undefined) {
    return <p class="chosen quiet">{hintText(port)} Choose a caller or an address to see its way.</p>;
  }
  const ways = picture.ways.filter(way => isChosen(way, selection));
  const [only] = ways.length === 1 ? ways : [];
  const remarks = only?.outcome.kind === 'answered' ? only.outcome.remarks : [];
  return (
    <div class="chosen" aria-live="polite">
      <ul>
        {ways.map(way => (
          <li key={`${way.from} ${way.to}`}>
            <WaySentence way={way} />
          </li>
        ))}
      </ul>
      {remarks.map(({ text }) => (
        <p key={text} class="quiet">
          Why: {text}.
        </p>
      ))}
      {only && (
        <a href={formatAddress({ view: 'ask', parameters: questionOf(only, service, port) })}>Ask why, step by step</a>
      )}
    </div>
  );
}

function WaySentence({ way: { from, to, outcome, answering } }: { readonly way: Way }) {
  return (
    <>
      <Sign outcome={outcome} /> A connection from <strong>{CALLER_SUBJECTS[from]}</strong> to{' '}
      <strong class="mono">{to.includes(':') ? to : `node port ${to}`}</strong> {outcomeText(outcome, answering)}.
    </>
  );
}

function hintText({ affinitySeconds, topology }: PortDetail): string {
  const affinity = affinitySeconds === undefined ? '' : `A client keeps its endpoint for ${affinitySeconds} s. `;
  return `${affinity}${topology === undefined ? '' : `${topology.charAt(0).toUpperCase()}${topology.slice(1)}.`}`;
}

/** The parameters of the view that asks. A pod of this node is the default caller. */
function questionOf({ from, to }: Way, service: string, port: PortDetail): Readonly<Record<string, string>> {
  const protocol = port.protocol === 'TCP' ? '' : `/${port.protocol.toLowerCase()}`;
  const target = to.includes(':') ? to : `${service}${port.name === '' ? '' : `:${port.name}`}`;
  return { ...(from === 'pod' ? {} : { from }), to: `${target}${protocol}` };
}
