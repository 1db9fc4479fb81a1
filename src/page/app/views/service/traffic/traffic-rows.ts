import type { PortTraffic, TrafficAnswer } from '../../../../../inspect/index.ts';
import { bytesText } from '../../../../../lib/bytes-text.ts';

type Figure = Exclude<keyof PortTraffic, 'family' | 'name' | 'endpoints'>;

const COLUMNS: readonly (readonly [figure: Figure, title: string, text: (figure: number) => string])[] = [
  ['connections', 'New connections', numberText],
  ['active', 'Open now', numberText],
  ['bytes', 'Bytes', bytesText],
  ['packets', 'Packets', numberText],
  ['rejected', 'Rejected', numberText],
  ['dropped', 'Dropped', numberText],
];

export interface TrafficRow {
  readonly id: string;
  /** `http, IPv4`. Empty for an endpoint: its port stands above. */
  readonly port: string;
  /** Empty for the sum of a port. */
  readonly endpoint: string;
  /** One for each column. A dash where the mode does not count. */
  readonly cells: readonly string[];
}

export interface TrafficTable {
  readonly columns: readonly string[];
  readonly rows: readonly TrafficRow[];
}

/** A row for each port, and below it one for each of its endpoints. Figures that nothing has are no columns. */
export function trafficTable({ ports }: Pick<TrafficAnswer, 'ports'>): TrafficTable {
  const columns = COLUMNS.filter(([figure]) => ports.some(port => port[figure] !== undefined));
  const cells = (figures: Partial<Record<Figure, number | undefined>>) =>
    columns.map(([figure, , text]) => {
      const value = figures[figure];
      return value === undefined ? '–' : text(value);
    });
  const rows = ports.flatMap(port => {
    const id = `${port.family} ${port.name}`;
    const name = port.name === '' ? port.family : `${port.name}, ${port.family}`;
    return [
      { id, port: name, endpoint: '', cells: cells(port) },
      ...port.endpoints.map(each => ({
        id: `${id} ${each.address}`,
        port: '',
        endpoint: each.address,
        cells: cells(each),
      })),
    ];
  });
  return { columns: columns.map(([, title]) => title), rows };
}

function numberText(value: number): string {
  return value.toLocaleString('en');
}
