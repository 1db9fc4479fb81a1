import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trafficTable } from './traffic-rows.ts';

test('TRAFFIC-14 each port has a row, and its endpoints below; what is not counted is a dash or no column', () => {
  const endpoints = [{ address: '10.0.0.1:80', connections: 1200, bytes: 2048 }];
  const { columns, rows } = trafficTable({
    ports: [
      { family: 'IPv4', name: 'http', connections: 1234, active: 2, bytes: 2048, endpoints },
      { family: 'IPv6', name: '', connections: 0, active: 0, endpoints: [] },
    ],
  });
  assert.deepEqual(columns, ['New connections', 'Open now', 'Bytes']);
  assert.deepEqual(
    rows.map(({ port, endpoint, cells }) => [port, endpoint, ...cells]),
    [
      ['http, IPv4', '', '1,234', '2', '2.0 KiB'],
      ['', '10.0.0.1:80', '1,200', '–', '2.0 KiB'],
      ['IPv6', '', '0', '0', '–'],
    ],
  );
});
