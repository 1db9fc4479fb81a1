import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCidr, type Ip } from '../net/index.ts';
import type { FindService, KnownService } from './known-service.ts';
import { parseSelection } from './named-selection.ts';

const WEB: KnownService = {
  key: 'shop/web',
  ports: [
    {
      name: 'http',
      protocol: 'TCP',
      frontends: [
        { address: '10.96.0.10' as Ip, port: 80 },
        { address: 'fd00:10:96::10' as Ip, port: 80 },
        { address: 'node', port: 30080 },
      ],
    },
    {
      name: 'dns',
      protocol: 'UDP',
      frontends: [
        { address: '10.96.0.10' as Ip, port: 53 },
        { address: 'fd00:10:96::10' as Ip, port: 53 },
      ],
    },
  ],
};

const asked: string[] = [];
const findService: FindService = async (namespace, name) => {
  asked.push(`${namespace}/${name}`);
  return WEB;
};

async function destinations(to: string): Promise<readonly string[]> {
  const { selection } = await parseSelection('', to, findService);
  return selection.destinations.map(({ address, port, protocol }) =>
    [address === 'node' ? address : formatCidr(address), port, protocol].filter(Boolean).join(' '),
  );
}

test('TRACE-9 --to is an address, with a port and a protocol', async () => {
  assert.deepEqual(await destinations('10.96.0.10'), ['10.96.0.10/32']);
  assert.deepEqual(await destinations('10.96.0.10:80'), ['10.96.0.10/32 80 TCP']);
  assert.deepEqual(await destinations('10.96.0.10:53/udp'), ['10.96.0.10/32 53 UDP']);
  assert.deepEqual(await destinations('10.96.0.10/udp'), ['10.96.0.10/32 UDP']);
  assert.deepEqual(await destinations('10.96.0.0/12'), ['10.96.0.0/12']);
  assert.deepEqual(await destinations('[fd00:10:96::10]:80'), ['fd00:10:96::10/128 80 TCP']);
  assert.deepEqual(await destinations('fd00:10:96::10'), ['fd00:10:96::10/128']);
  assert.deepEqual(await destinations('node:30080'), ['node 30080 TCP']);
});

test('TRACE-9 --to is a Service: all of its addresses and node ports, or one of its ports', async () => {
  const http = ['10.96.0.10/32 80 TCP', 'fd00:10:96::10/128 80 TCP', 'node 30080 TCP'];
  const dns = ['10.96.0.10/32 53 UDP', 'fd00:10:96::10/128 53 UDP'];
  assert.deepEqual(await destinations('shop/web'), [...http, ...dns]);
  assert.deepEqual(await destinations('shop/web:http'), http);
  assert.deepEqual(await destinations('shop/web:80'), http);
  assert.deepEqual(await destinations('shop/web:30080'), http);
  assert.deepEqual(await destinations('web:53/udp'), dns);
  assert.deepEqual([...new Set(asked)], ['shop/web', 'default/web']);
});

test('TRACE-9 --from is an address, a range or the node', async () => {
  const source = async (from: string) => (await parseSelection(from, '', findService)).selection.source;
  assert.deepEqual(await source('10.244.1.7'), { address: '10.244.1.7', prefix: 32 });
  assert.deepEqual(await source('10.244.0.0/16'), { address: '10.244.0.0', prefix: 16 });
  assert.equal(await source('node'), 'node');
  const { name } = await parseSelection('node', 'shop/web:80', findService);
  assert.equal(
    name,
    'from this node to 10.96.0.10:80/tcp, [fd00:10:96::10]:80/tcp, the addresses of this node, port 30080/tcp',
  );
});

test('TRACE-9 what is no selection is an error that says what is right', async () => {
  const error = (from: string, to: string) => parseSelection(from, to, findService).then(() => 'no error', String);
  assert.match(await error('pod', ''), /must be an IP, a CIDR or node/);
  assert.match(await error('', '10.96.0.10:0'), /must be 1 to 65535/);
  assert.match(await error('', 'a/b/c'), /must be a Service \(namespace\/name:port\) or an address/);
  assert.match(
    await error('', 'shop/web:https'),
    /Service shop\/web has no port "https": it has http 80 and 30080\/tcp, dns 53\/udp/,
  );
  const headless: FindService = async () => ({ key: 'shop/db', ports: [] });
  await assert.rejects(parseSelection('', 'shop/db', headless), /has no address that packets could go to/);
});

test('TRACE-9 addresses of the other family than --from are left out; without another one, that is an error', async () => {
  const { name } = await parseSelection('fd00:10:244::7', 'shop/web:http', findService);
  assert.equal(name, 'from fd00:10:244::7 to [fd00:10:96::10]:80/tcp, the addresses of this node, port 30080/tcp');
  await assert.rejects(
    parseSelection('10.244.1.7', '[fd00:10:96::10]:80', findService),
    /10\.244\.1\.7 and \[fd00:10:96::10\]:80 have different IP families, so no packet can match/,
  );
});
