import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { HistoryRow, MissedRow } from '../../inspect/index.ts';
import { openProxyStream } from '../proxy-stream.ts';
import { styleFor } from '../style.ts';
import { type PrintOptions, printHistory } from './command.ts';

const HEAD = { schema: 'pointsman.history/v1', node: 'node-a' };

type Row = Partial<HistoryRow> | MissedRow;

async function printed(rows: readonly Row[], options: Partial<PrintOptions> = {}): Promise<string> {
  let text = '';
  async function* lines(): AsyncGenerator<unknown, void> {
    yield HEAD;
    yield* rows;
  }
  const stream = await openProxyStream<HistoryRow | MissedRow>(lines(), HEAD.schema);
  const stdout = {
    write: (part: string) => {
      text += part;
    },
  };
  await printHistory(stream, { form: 'text', isFollowing: false, style: styleFor({}, {}), io: { stdout }, ...options });
  return text;
}

/** In the time zone of the test. */
const TIME = new Date(2026, 0, 2, 3, 4, 5, 6).toISOString();

const CHANGE: Row = {
  id: 1,
  kind: 'change',
  time: TIME,
  object: 'Service default/web',
  family: 'IPv4',
  change: '1 endpoint added',
  cause: 'EndpointSlice web-1 updated',
  triggered: new Date(2026, 0, 2, 3, 4, 4, 506).toISOString(),
  state: 'written',
  writtenMs: 3.14,
  fullSync: false,
};

test('HISTORY-21 a change is a line with the time, the object, the latency, the words and the cause', async () => {
  const waiting = { ...CHANGE, state: 'waiting', writtenMs: undefined };
  const repair: Row = { kind: 'repair', time: TIME, family: 'IPv6', change: '1 rule', cause: 'nft deleted a rule' };
  const failed: Row = { kind: 'syncFailed', time: TIME, family: 'IPv4', change: 'no luck', count: 3, lastTime: TIME };
  const sync: Row = {
    kind: 'sync',
    time: TIME,
    change: 'first sync',
    state: 'written',
    writtenMs: 9,
    syncMs: 12,
    fullSync: true,
  };
  const text = await printed([CHANGE, waiting, repair, failed, sync]);
  const time = '2026-01-02 03:04:05.006';
  assert.deepEqual(text.replaceAll(/ {2,}/g, ' | ').split('\n'), [
    'TIME | WHAT | OBJECT | LATENCY | CHANGE',
    `${time} | change | Service default/web IPv4 | trigger → event 500 ms, event → kernel 3.1 ms | ` +
      '1 endpoint added ← EndpointSlice web-1 updated',
    `${time} | change | Service default/web IPv4 | not written yet | 1 endpoint added ← EndpointSlice web-1 updated`,
    `${time} | repair | IPv6 | - | nft deleted a rule; the proxy repaired it: 1 rule`,
    `${time} | sync failed | IPv4 | - | no luck (3 times, last ${time})`,
    `${time} | sync | - | took 12 ms, full sync | first sync`,
    '',
  ]);
});

test('HISTORY-21 with --follow every entry is printed at once, and the output says what it missed', async () => {
  const rows = [{ ...CHANGE, triggered: undefined, change: 'x\u001b[2J' }, { missed: 5 }];
  const text = await printed(rows, { isFollowing: true });
  assert.match(text, /event → kernel 3\.1 ms +x\\x1b\[2J ← EndpointSlice web-1 updated\n/);
  assert.match(text, / missed +5 entries came too fast to print\n$/);
});

test('HISTORY-21 JSON and YAML are one document, or with --follow one for each entry', async () => {
  const expected = JSON.parse(JSON.stringify(CHANGE));
  assert.deepEqual(JSON.parse(await printed([CHANGE], { form: 'json' })), { ...HEAD, entries: [expected] });
  const lines = (await printed([CHANGE, { missed: 5 }], { form: 'json', isFollowing: true })).trim().split('\n');
  assert.deepEqual(
    lines.map(line => JSON.parse(line)),
    [expected, { missed: 5 }],
  );
  const documents = parseAllDocuments(await printed([CHANGE, { missed: 5 }], { form: 'yaml', isFollowing: true }));
  assert.ok(Array.isArray(documents));
  assert.deepEqual(
    documents.map(document => document.toJS()),
    [expected, { missed: 5 }],
  );
});
