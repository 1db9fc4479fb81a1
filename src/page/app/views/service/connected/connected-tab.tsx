import './connected.css';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { SocketCounts } from '../../../../../inspect/index.ts';
import { IdleButton } from '../../../parts/idle-button.tsx';
import { ErrorNote, Loading } from '../../../parts/notes.tsx';
import { Age } from '../../../parts/time.tsx';
import { useSource } from '../load.ts';
import { type ConnectedRow, connectedRows, connectedText, FIRST_ROWS } from './connected-rows.ts';

/** No event says that a socket opened or closed, so the page asks again after this time. */
const EVERY_MS = 5000;
const MIN_MS = 2000;
/** The pause is at least this many times as long as the last answer took, to spare nodes with very many sockets. */
const PAUSES = 10;

/** Who is connected to the endpoints of a Service. The kernel is read only while this is shown. */
export function ConnectedTab({ service }: { readonly service: string }) {
  const source = useSource<SocketCounts>({
    path: 'v1/socket-counts',
    parameters: { service },
    service,
    everyMs: MIN_MS,
  });
  useEffect(() => {
    const timer = setInterval(() => {
      const { at = 0, tookMs = 0 } = source.state.value;
      if (!document.hidden && Date.now() - at >= PAUSES * tookMs) source.readAgain();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [service]);
  const { answer, error, at, isReading } = source.state.value;
  return (
    <div class="connected">
      <div class="reading-bar">
        <span>{answer && answer.note === undefined && connectedText(answer)}</span>
        <span class="quiet">
          {at !== undefined && (
            <>
              Read <Age time={at} />
            </>
          )}
        </span>
        <IdleButton isIdle={isReading} onPress={source.readAgain}>
          Read again
        </IdleButton>
      </div>
      {error !== undefined && (
        <ErrorNote title="The page cannot read who is connected." error={error} onRetry={source.readAgain} />
      )}
      {answer ? <Counts counts={answer} /> : error === undefined && <Loading what="who is connected" lines={6} />}
    </div>
  );
}

function Counts({ counts }: { readonly counts: SocketCounts }) {
  const rows = useMemo(() => connectedRows(counts), [counts]);
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? rows : rows.slice(0, FIRST_ROWS);
  const hasPorts = new Set(rows.map(({ port }) => port)).size > 1;
  return (
    <>
      {counts.note !== undefined && (
        <p class="warn">
          <span aria-hidden="true">! </span>
          {counts.note}.
        </p>
      )}
      {rows.length > 0 && (
        <div class="table-box">
          <table class="stacked">
            <thead>
              <tr>
                {hasPorts && <th scope="col">Port</th>}
                <th scope="col">Endpoint</th>
                <th scope="col" class="number">
                  Sockets
                </th>
                <th scope="col">Callers</th>
              </tr>
            </thead>
            <tbody>
              {shown.map(row => (
                <Row key={row.id} row={row} hasPort={hasPorts} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > shown.length && (
        <button type="button" onClick={() => setShowsAll(true)}>
          {`Show all ${rows.length.toLocaleString('en')} endpoints`}
        </button>
      )}
    </>
  );
}

function Row({ row, hasPort }: { readonly row: ConnectedRow; readonly hasPort: boolean }) {
  const { port, endpoint, address, sockets, callers, leftOver } = row;
  return (
    <tr>
      {hasPort && <td data-column="Port">{port}</td>}
      <td data-column="Endpoint">
        <span>
          <span class={address === undefined ? 'mono' : ''}>{endpoint}</span>
          {address !== undefined && <span class="quiet mono"> {address}</span>}
          {leftOver !== undefined && <span class="left-over warn">{leftOver}</span>}
        </span>
      </td>
      <td data-column="Sockets" class="number">
        {sockets.toLocaleString('en')}
      </td>
      <td data-column="Callers">{callers}</td>
    </tr>
  );
}
