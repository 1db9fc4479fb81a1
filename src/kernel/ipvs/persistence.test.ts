import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePersistence } from './persistence.ts';

// What Linux 6.1 prints in /proc/net/ip_vs_conn.
const LIST = `Pro FromIP   FPrt ToIP     TPrt DestIP   DPrt State       Expires PEName PEData
TCP C0000207 0000 0A60000A 0050 0AF40202 1F90 NONE            594
TCP C0000207 9C40 0A60000A 0050 0AF40202 1F90 ESTABLISHED     895
UDP C0000208 0000 0A600035 0035 0AF40235 0035 ASSURED        10799
TCP fd00:0000:0000:0000:0000:0000:0000:0007 0000 fd00:0010:0096:0000:0000:0000:0000:000a 0050 fd00:0010:0244:0002:0000:0000:0000:0002 1F90 NONE            12
`;

test('READ-7 clients of persistent virtual servers are read from the list of connections', () => {
  assert.deepEqual(parsePersistence(LIST), [
    {
      client: '192.0.2.7',
      protocol: 'TCP',
      address: '10.96.0.10',
      port: 80,
      server: '10.244.2.2',
      serverPort: 8080,
      secondsLeft: 594,
    },
    {
      client: '192.0.2.8',
      protocol: 'UDP',
      address: '10.96.0.53',
      port: 53,
      server: '10.244.2.53',
      serverPort: 53,
      secondsLeft: 10_799,
    },
    {
      client: 'fd00::7',
      protocol: 'TCP',
      address: 'fd00:10:96::a',
      port: 80,
      server: 'fd00:10:244:2::2',
      serverPort: 8080,
      secondsLeft: 12,
    },
  ]);
});
