import { type Answers, answerCount, type Cell, type RowResults } from '../../demo/index.ts';
import { joinHostPort } from '../../net/index.ts';

/** The words for what connections got, the same for a screen and for lines. */
export interface Wording {
  /** How an endpoint is named: by a mark or in full. */
  readonly endpoint: (text: string) => string;
  readonly share: (text: string) => string;
  readonly seenAs: (text: string) => string;
  readonly failure: (text: string) => string;
  readonly between: string;
}

/** `10.244.1.10:8080 52% · 10.244.2.10:8080 48%, as node`, `refused`, `silent`. */
export function getsText({ row }: RowResults, { observed }: Cell, wording: Wording): string {
  if (row.ip === undefined) return 'no address of the node accepts node ports';
  if (row.port.protocol === 'SCTP') return 'SCTP is not tried';
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
    const share = `${wording.endpoint(endpoint)}${wording.share(`${Math.round((100 * given.count) / total)}%`)}`;
    return callers.size > 1 ? share + wording.seenAs(seenAsText(given)) : share;
  });
  const [caller = ''] = callers;
  // The comma tells that it is about all of them.
  const common = callers.size > 1 || caller === '' ? '' : `${shares.length > 1 ? ',' : ''}${wording.seenAs(caller)}`;
  const answered = shares.join(wording.between) + common;
  return [answered, ...[...observed.failures].map(wording.failure)].filter(Boolean).join(' ');
}

/** Empty if the endpoint sees the caller itself. */
function seenAsText({ seenAs }: Answers): string {
  const others = [...seenAs].filter(who => who !== 'itself');
  return others.length === 0 ? '' : ` as ${[...seenAs].join(' or ')}`;
}

/** `10.96.0.10:80`, `*:30080` */
export function addressText({ row }: RowResults): string {
  return row.ip === undefined ? `*:${row.frontend.port}` : joinHostPort(row.ip, row.frontend.port);
}
