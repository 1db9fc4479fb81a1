import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { EndpointCount, SocketRow } from '../../inspect/index.ts';
import { openProxyStream } from '../proxy-stream.ts';
import { styleFor } from '../style.ts';
import { type PrintOptions, printCounts, printSockets } from './command.ts';
import { countsTable, socketsTable } from './table.ts';

const STYLE = styleFor({}, {});
const HEAD = { schema: 'pointsman.sockets/v1', node: 'node-a', mode: 'ebpf', isAvailable: true };

const WEB: SocketRow = {
  service: 'default/web',
  port: 'http',
  address: '10.96.0.1:80',
  endpoint: '10.1.0.1:8080',
  endpointPod: 'default/web-1',
  endpointUse: 'used',
  caller: '10.1.0.9:40001',
  callerPod: 'shop/api-0',
  isOfNode: false,
  state: 'ESTAB',
};
const GONE: SocketRow = {
  service: 'default/web',
  port: 'http',
  address: '10.96.0.1:80',
  endpoint: '10.1.0.2:8080',
  endpointUse: 'gone',
  caller: '192.168.0.1:40002',
  isOfNode: true,
  state: 'CLOSE-WAIT',
};
const REMOVED: SocketRow = {
  address: '[fd00::7]:80',
  endpoint: '[fd00:1::7]:8080',
  caller: '[fd00:1::9]:40003',
  isOfNode: false,
  state: 'ESTAB',
};

function lines(text: string): readonly string[] {
  return text.split('\n').slice(0, -1);
}

test('SOCKETS-10 sockets are a table by Service, endpoint and caller, with the names of pods', () => {
  assert.deepEqual(lines(socketsTable([REMOVED, GONE, WEB], { isWide: false, style: STYLE })), [
    'SERVICE                    CALLER      ENDPOINT              STATE',
    'default/web:http           shop/api-0  default/web-1         ESTAB',
    'default/web:http           node        10.1.0.2:8080 (gone)  CLOSE-WAIT',
    '[fd00::7]:80 (no Service)  fd00:1::9   [fd00:1::7]:8080      ESTAB',
  ]);
  assert.equal(socketsTable([], { isWide: false, style: STYLE }), '', 'without sockets there is no header');
});

test('SOCKETS-10 the wide table has all addresses', () => {
  const unused: SocketRow = { ...WEB, endpointUse: 'unused' };
  assert.deepEqual(lines(socketsTable([unused, GONE], { isWide: true, style: STYLE, width: 40 })), [
    'SERVICE           ADDRESS       CALLER      CALLER ADDRESS     ENDPOINT                  ENDPOINT ADDRESS  STATE',
    'default/web:http  10.96.0.1:80  shop/api-0  10.1.0.9:40001     default/web-1 (not used)  10.1.0.1:8080     ESTAB',
    'default/web:http  10.96.0.1:80  node        192.168.0.1:40002  - (gone)                  10.1.0.2:8080     CLOSE-WAIT',
  ]);
});

test('SOCKETS-10 in a narrow terminal long names are cut, and the state stays in the terminal', () => {
  const long: SocketRow = {
    ...WEB,
    service: 'shop/a-service-with-quite-a-long-name',
    callerPod: 'shop/caller-7d9f-abcde',
  };
  const [, line = ''] = lines(socketsTable([long], { isWide: false, style: STYLE, width: 60 }));
  assert.ok(line.length <= 60, line);
  assert.match(line, /…/);
  assert.match(line, /ESTAB$/);
});

const COUNTS: readonly EndpointCount[] = [
  {
    service: 'default/web',
    port: 'http',
    endpoint: '10.1.0.1:8080',
    endpointPod: 'default/web-1',
    endpointUse: 'used',
    sockets: 7,
    callers: [
      { name: 'shop/api-0', sockets: 4 },
      { name: 'node', sockets: 2 },
    ],
    callerCount: 3,
  },
  {
    address: '10.96.0.7:80',
    endpoint: '10.1.0.7:80',
    sockets: 1,
    callers: [{ name: 'node', sockets: 1 }],
    callerCount: 1,
  },
];

test('SOCKETS-11 the summary counts by Service and endpoint, with the callers', () => {
  assert.deepEqual(lines(countsTable(COUNTS, { isWide: false, style: STYLE })), [
    'SERVICE                    ENDPOINT       SOCKETS  CALLERS',
    'default/web:http           default/web-1  7        shop/api-0 4 +2',
    '10.96.0.7:80 (no Service)  10.1.0.7:80    1        node 1',
  ]);
  const [, wide] = lines(countsTable(COUNTS, { isWide: true, style: STYLE }));
  assert.equal(wide, 'default/web:http           default/web-1  10.1.0.1:8080     7        shop/api-0 4, node 2 +1');
});

interface Printed {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function printed(
  print: (options: PrintOptions) => number | Promise<number>,
  form: PrintOptions['form'] = 'text',
  name = '',
): Promise<Printed> {
  const texts = { stdout: '', stderr: '' };
  const output = (stream: keyof typeof texts) => ({
    write: (text: string | Uint8Array) => {
      texts[stream] += String(text);
    },
  });
  const io = { stdout: output('stdout'), stderr: output('stderr') };
  const status = await print({ form, name, style: STYLE, io });
  return { status, ...texts };
}

async function* stream(...values: unknown[]): AsyncGenerator<unknown, void> {
  yield* values;
}

async function printedSockets(head: object, rows: readonly SocketRow[], form: PrintOptions['form'], name = '') {
  const opened = await openProxyStream<SocketRow>(stream(head, ...rows), HEAD.schema);
  return await printed(options => printSockets(opened, options), form, name);
}

test('SOCKETS-12 JSON and YAML are one document with a schema and a list', async () => {
  const expected = { ...HEAD, sockets: [WEB, REMOVED] };
  const json = await printedSockets(HEAD, [WEB, REMOVED], 'json');
  assert.deepEqual(JSON.parse(json.stdout), expected);
  assert.deepEqual(parse((await printedSockets(HEAD, [WEB, REMOVED], 'yaml')).stdout), expected);
  const counts = { ...HEAD, schema: 'pointsman.socket-counts/v1', sockets: 8, endpoints: COUNTS, endpointCount: 2 };
  const inJson = await printed(options => printCounts(counts, options), 'json');
  assert.deepEqual(JSON.parse(inJson.stdout), counts);
  const inYaml = await printed(options => printCounts(counts, options), 'yaml');
  assert.deepEqual(parse(inYaml.stdout), counts);
});

test('SOCKETS-13 without sockets the command says so, and the exit status is 0', async () => {
  const { status, stdout, stderr } = await printedSockets(HEAD, [], 'text', 'web');
  assert.deepEqual([status, stdout], [0, '']);
  assert.equal(stderr, 'No socket is connected to a Service that matches "web".\n');
});

test('SOCKETS-13 if the proxy cannot list sockets the command says why, and the exit status is 1', async () => {
  const head = { ...HEAD, isAvailable: false, note: 'the mode nftables does not lead sockets to endpoints' };
  const { status, stdout, stderr } = await printedSockets(head, [], 'text');
  assert.deepEqual([status, stdout], [1, '']);
  assert.equal(stderr, 'The mode nftables does not lead sockets to endpoints.\n');
  assert.equal((await printedSockets(head, [], 'json')).status, 1);
  const counts = { ...head, sockets: 0, endpoints: [], endpointCount: 0 };
  assert.equal((await printed(options => printCounts(counts, options))).status, 1);
});

test('SOCKETS-11 the summary says that it lists only the endpoints with the most sockets', async () => {
  const counts = { ...HEAD, sockets: 9, endpoints: COUNTS, endpointCount: 3 };
  const { stderr } = await printed(options => printCounts(counts, options));
  assert.equal(stderr, 'These are the 2 of 3 endpoints with the most sockets.\n');
});
