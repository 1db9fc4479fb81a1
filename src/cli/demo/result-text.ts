import { type Answers, answerCount, type Cell, type RowResults } from '../../demo/index.ts';
import { joinHostPort } from '../../net/index.ts';

/** How a screen or a line writes the parts of a result. */
export interface ResultFormat {
  /** Names an endpoint by a mark or in full. */
  readonly endpoint: (text: string) => string;
  readonly share: (text: string) => string;
  readonly seenAs: (text: string) => string;
  readonly failure: (text: string) => string;
  readonly separator: string;
}

/**
 * The result of connections from one place: `10.244.1.10:8080 52% · 10.244.2.10:8080 48%, as node`, `refused`,
 * `silent`.
 */
export function resultText({ row }: RowResults, { observed }: Cell, format: ResultFormat): string {
  if (row.ip === undefined) return 'no address of the node accepts node ports';
  if (row.port.protocol === 'SCTP') return 'SCTP is not tested';
  if (!observed) return '…';
  const order = [...row.port.used, ...observed.answers.keys()].filter(
    (endpoint, i, all) => all.indexOf(endpoint) === i,
  );
  const answers = order.flatMap(endpoint => {
    const given = observed.answers.get(endpoint);
    return given ? [{ endpoint, given }] : [];
  });
  const total = answerCount(observed);
  const callers = new Set(answers.map(({ given }) => seenAsText(given)));
  const shares = answers.map(({ endpoint, given }) => {
    const share = `${format.endpoint(endpoint)}${format.share(`${Math.round((100 * given.count) / total)}%`)}`;
    return callers.size > 1 ? share + format.seenAs(seenAsText(given)) : share;
  });
  const [caller = ''] = callers;
  // The comma shows that the words apply to all endpoints.
  const common = callers.size > 1 || caller === '' ? '' : `${shares.length > 1 ? ',' : ''}${format.seenAs(caller)}`;
  const answered = shares.join(format.separator) + common;
  return [answered, ...[...observed.failures].map(format.failure)].filter(Boolean).join(' ');
}

/** Empty if the endpoint sees the address of the caller. */
function seenAsText({ seenAs }: Answers): string {
  const isOnlyCaller = [...seenAs].every(address => address === 'itself');
  return isOnlyCaller ? '' : ` as ${[...seenAs].join(' or ')}`;
}

/** `10.96.0.10:80`, `*:30080` */
export function addressText({ row }: RowResults): string {
  return row.ip === undefined ? `*:${row.frontend.port}` : joinHostPort(row.ip, row.frontend.port);
}
