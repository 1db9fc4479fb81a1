import './traffic.css';
import { useEffect, useMemo } from 'preact/hooks';
import type { TrafficAnswer } from '../../../../../inspect/index.ts';
import { IdleButton } from '../../../parts/idle-button.tsx';
import { EmptyNote, ErrorNote, Loading } from '../../../parts/notes.tsx';
import { Age } from '../../../parts/time.tsx';
import { useSource } from '../load.ts';
import { type TrafficRow, trafficTable } from './traffic-rows.ts';

const EVERY_MS = 5000;
const MIN_MS = 2000;

/** What the ports and endpoints of a Service carried. The proxy reads the kernel only while this is shown. */
export function TrafficTab({ service }: { readonly service: string }) {
  const source = useSource<TrafficAnswer>({
    path: 'v1/traffic',
    parameters: { service },
    service,
    everyMs: MIN_MS,
  });
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) source.readAgain();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [service]);
  const { answer, error, at, isReading } = source.state.value;
  return (
    <div class="traffic">
      <div class="reading-bar">
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
        <ErrorNote title="The page cannot read the traffic." error={error} onRetry={source.readAgain} />
      )}
      {answer ? <Traffic answer={answer} /> : error === undefined && <Loading what="the traffic" lines={6} />}
    </div>
  );
}

function Traffic({ answer }: { readonly answer: TrafficAnswer }) {
  const { columns, rows } = useMemo(() => trafficTable(answer), [answer]);
  if (rows.length === 0) return <EmptyNote title="This Service had no traffic yet." />;
  return (
    <div class="table-box">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">Port</th>
            <th scope="col">Endpoint</th>
            {columns.map(title => (
              <th key={title} scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <Row key={row.id} row={row} columns={columns} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ row, columns }: { readonly row: TrafficRow; readonly columns: readonly string[] }) {
  return (
    <tr class={row.port === '' ? '' : 'sum'}>
      <td data-column="Port">{row.port}</td>
      <td data-column="Endpoint" class="mono">
        {row.endpoint === '' ? 'all' : row.endpoint}
      </td>
      {columns.map((title, i) => (
        <td key={title} data-column={title} class="number">
          {row.cells[i]}
        </td>
      ))}
    </tr>
  );
}
