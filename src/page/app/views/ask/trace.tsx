import { useSignal } from '@preact/signals';
import type { Explanation } from '../../../../explain/index.ts';
import type { TracedLine } from '../../../../trace/index.ts';
import { IdleButton } from '../../parts/idle-button.tsx';
import { ErrorNote } from '../../parts/notes.tsx';
import { pageInfo } from '../../state/page-info.ts';
import { PacketWayView } from './packet-way-view.tsx';
import { endTrace, startTrace, trace } from './trace-run.ts';
import { packetToShow, type TraceState, traceText } from './trace-state.ts';
import { type TraceQuestion, traceQuestion } from './way.ts';

/** Follows real packets of the question, and draws their way as they come. */
export function Trace({ answer }: { readonly answer: Explanation }) {
  const info = pageInfo.value;
  if (!info) return null;
  const isRunning = trace.value?.phase === 'opening' || trace.value?.phase === 'running';
  const question = traceQuestion(answer, info.allows.includes('probe'));
  return (
    <section class="ask-trace" aria-labelledby="trace-title">
      <h2 id="trace-title">Trace</h2>
      {info.allows.includes('trace') ? (
        <>
          <p class="quiet">{traceHint(question)}</p>
          <div class="toolbar">
            <IdleButton isIdle={isRunning} onPress={() => void startTrace(question)}>
              {trace.value ? 'Trace again' : 'Trace'}
            </IdleButton>
            <IdleButton isIdle={!isRunning} onPress={endTrace}>
              Stop
            </IdleButton>
            <span role="status">{trace.value && traceText(trace.value)}</span>
          </div>
          {trace.value && <TraceResult state={trace.value} />}
        </>
      ) : (
        <p class="quiet">
          Tracing is off: <code>--page-allow=trace</code> allows it.
        </p>
      )}
    </section>
  );
}

function traceHint({ from, isSent }: TraceQuestion): string {
  if (isSent && from === 'node')
    return 'The node itself opens one connection to this destination, and the kernel shows its way.';
  if (isSent) return 'Follows every packet to this destination. The node itself opens one connection to it.';
  if (from === '') return 'Follows every packet to this destination. Start a connection while the trace runs.';
  return `Follows packets from ${from === 'node' ? 'this node' : from}. Start the connection there while the trace runs.`;
}

function TraceResult({ state: { packets, sent, head, error, overruns } }: { readonly state: TraceState }) {
  const chosen = useSignal<number | undefined>(undefined);
  const shown = packets.find(({ number }) => number === chosen.value) ?? packetToShow(packets);
  return (
    <>
      {error !== undefined && <ErrorNote title="The trace failed." error={error} />}
      {head?.notice !== undefined && <pre class="notice">{head.notice}</pre>}
      {sent && (
        <p>
          The connection of the node to <code>{sent.to}</code> {sent.outcome === 'connected' ? '✓' : '✕'} {sent.outcome}{' '}
          after {Math.max(1, Math.round(sent.ms))} ms.
        </p>
      )}
      {overruns > 0 && (
        <p>The kernel dropped trace messages {overruns} times, so packets may be missing or look lost.</p>
      )}
      {shown && (
        <div class="trace-packets">
          <PacketList
            packets={packets}
            shown={shown}
            onChoose={number => {
              chosen.value = number;
            }}
          />
          <PacketWayView packet={shown} />
        </div>
      )}
    </>
  );
}

interface ListProps {
  readonly packets: readonly TracedLine[];
  readonly shown: TracedLine;
  readonly onChoose: (number: number | undefined) => void;
}

/** All packets of the trace. */
function PacketList({ packets, shown, onChoose }: ListProps) {
  return (
    <ul class="packet-list" aria-label="Packets">
      {packets.map(packet => (
        <li key={packet.number}>
          <button
            type="button"
            aria-pressed={packet.number === shown.number}
            title={packet.summary}
            onClick={() => onChoose(packet.number)}
          >
            <span class="number">#{packet.number}</span> {packet.protocol} {packet.tcpFlags ?? ''}{' '}
            <span class="quiet">{packet.first.source}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
