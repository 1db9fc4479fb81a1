import { ProxyClientError } from '../inspect/index.ts';
import { isRecord } from '../lib/is-record.ts';

/** A stream of the proxy: the first line, and the rows after it. */
export interface ProxyStream<Row> {
  readonly head: Readonly<Record<string, unknown>>;
  readonly rows: AsyncIterable<Row>;
}

/** The schema says what the rows are. Rejects with a `ProxyClientError` if the proxy answers with another one. */
export async function openProxyStream<Row extends object>(
  lines: AsyncGenerator<unknown, void>,
  schema: string,
): Promise<ProxyStream<Row>> {
  const { value: head } = await lines.next();
  if (isRecord(head) && head.schema === schema) return { head, rows: lines as AsyncGenerator<Row, void> };
  await lines.return();
  const found = isRecord(head) ? String(head.schema) : 'no schema';
  throw new ProxyClientError(
    'broken',
    `the proxy answers with ${found}, and this command reads ${schema}: use the command of the proxy's own version`,
  );
}
