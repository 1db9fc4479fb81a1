import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { ServiceRow } from '../../inspect/index.ts';
import { openProxyStream } from '../proxy-stream.ts';
import { styleFor } from '../style.ts';
import { type PrintOptions, printServices } from './command.ts';
import { servicesTable } from './table.ts';

const ROW: ServiceRow = {
  namespace: 'default',
  name: 'web',
  type: 'ClusterIP',
  addresses: ['10.96.0.1', '1.2.3.4'],
  ports: ['80/TCP'],
  endpoints: [{ family: 'IPv4', used: 2, all: 3 }],
  connections: undefined,
  state: 'programmed',
  reasons: [],
  changed: '2026-01-01T09:59:00.000Z',
};
const NOW = Date.parse('2026-01-01T10:00:00Z');
const HEAD = { schema: 'pointsman.services/v1', historySince: '2026-01-01T05:00:00.000Z', countsConnections: false };
const STYLE = styleFor({}, {});

function tableOf(rows: readonly ServiceRow[], options: Partial<Parameters<typeof servicesTable>[0]> = {}) {
  let text = '';
  const print = (part: string) => {
    text += part;
  };
  const table = servicesTable({
    head: HEAD,
    isWide: false,
    hasReasons: false,
    style: STYLE,
    print,
    now: NOW,
    ...options,
  });
  for (const row of rows) table.add(row);
  table.end();
  return text.split('\n');
}

test('HISTORY-28 Services are a table with the first address, used and all endpoints, state and age', () => {
  const idle: ServiceRow = { ...ROW, name: 'idle', addresses: ['10.96.0.2'], state: 'noEndpoints', changed: undefined };
  assert.deepEqual(tableOf([ROW, idle]), [
    'NAMESPACE  NAME  TYPE       ADDRESS       PORTS   ENDPOINTS  STATE         CHANGED',
    'default    web   ClusterIP  10.96.0.1 +1  80/TCP  2/3        programmed    60s',
    'default    idle  ClusterIP  10.96.0.2     80/TCP  2/3        no endpoints  >5h',
    '',
  ]);
  assert.deepEqual(tableOf([]), [''], 'without Services there is no header');
});

test('HISTORY-28 the wide table has all addresses and the reasons, and connections if they are counted', () => {
  const both = [
    { family: 'IPv4', used: 1, all: 1 },
    { family: 'IPv6', used: 0, all: 1 },
  ];
  const balance = { algorithm: 'weighted', from: 'annotation' } as const;
  const changed = { endpoints: both, connections: 7, balance, state: 'setAside' } as const;
  const row: ServiceRow = { ...ROW, ...changed, reasons: ['a', 'b\u001b[2J'] };
  const head = { ...HEAD, countsConnections: true };
  assert.deepEqual(tableOf([row], { head, isWide: true, hasReasons: true }), [
    'NAMESPACE  NAME  TYPE       ADDRESS            PORTS   ENDPOINTS  BALANCE   CONNECTIONS  STATE      CHANGED  REASON',
    'default    web   ClusterIP  10.96.0.1,1.2.3.4  80/TCP  1/1 0/1    weighted  7            set aside  60s      a; b\\x1b[2J',
    '',
  ]);
});

test('TRAFFIC-12 the wide table shows traffic with units and aligned numbers, and a dash for what is not counted', () => {
  const busy = { ...ROW, addresses: ['10.96.0.1'], traffic: { connections: 12345, active: 7, bytes: 3 * 1024 ** 3 } };
  const idle = { ...ROW, name: 'idle', addresses: ['10.96.0.2'], traffic: { connections: 0, active: 0, bytes: 0 } };
  const head = { ...HEAD, countsConnections: true, countsTraffic: ['connections', 'active', 'bytes'] };
  const lines = tableOf([busy, idle], { head, isWide: true });
  assert.deepEqual(lines.map(line => line.slice(line.indexOf('ENDPOINTS'))).slice(0, 1), [
    'ENDPOINTS  BALANCE  CONNECTIONS  OPEN    BYTES  PACKETS  REJECTED  DROPPED  STATE       CHANGED',
  ]);
  assert.match(lines[1] ?? '', /2\/3 {8}- {14}12345 {5}7 {2}3\.0 GiB {8}- {9}- {8}- {2}programmed {2}60s$/);
  assert.match(lines[2] ?? '', /2\/3 {8}- {18}0 {5}0 {6}0 B {8}- {9}- {8}- {2}programmed {2}60s$/);
});

test('HISTORY-28 the first 200 rows decide the widths, and each later row is printed at once', () => {
  const parts: string[] = [];
  const table = servicesTable({
    head: HEAD,
    isWide: false,
    hasReasons: false,
    style: STYLE,
    print: part => parts.push(part),
    now: NOW,
  });
  for (let i = 0; i < 200; i++) table.add(ROW);
  assert.equal(parts.length, 1);
  table.add({ ...ROW, name: 'a-much-longer-name' });
  assert.equal(
    parts[1],
    'default    a-much-longer-name  ClusterIP  10.96.0.1 +1  80/TCP  2/3        programmed  60s\n',
  );
});

async function* lines(...values: unknown[]): AsyncGenerator<unknown, void> {
  yield* values;
}

async function printed(form: PrintOptions['form'], ...rows: ServiceRow[]): Promise<string> {
  let text = '';
  const stream = await openProxyStream<ServiceRow>(lines(HEAD, ...rows), HEAD.schema);
  await printServices(stream, {
    form,
    isBrokenOnly: false,
    style: STYLE,
    io: {
      stdout: {
        write: part => {
          text += part;
        },
      },
    },
  });
  return text;
}

test('HISTORY-28 JSON and YAML are one document with a schema and a list', async () => {
  const { connections: _connections, ...row } = ROW;
  const expected = { ...HEAD, services: [row, { ...row, name: 'b\u202e' }] };
  const rows = [ROW, { ...ROW, name: 'b\u202e' }];
  const json = await printed('json', ...rows);
  assert.deepEqual(JSON.parse(json), expected);
  assert.ok(!json.includes('\u202e'));
  assert.deepEqual(parse(await printed('yaml', ROW)), { ...HEAD, services: [row] });
  assert.deepEqual(JSON.parse(await printed('json')), { ...HEAD, services: [] });
  assert.deepEqual(parse(await printed('yaml')), { ...HEAD, services: [] });
});

test('HISTORY-28 a proxy that answers with another schema is not understood', async () => {
  await assert.rejects(openProxyStream(lines({ schema: 'pointsman.services/v2' }), HEAD.schema), {
    name: 'ProxyClientError',
    message: /the proxy answers with pointsman\.services\/v2, and this command reads pointsman\.services\/v1/,
  });
});
