import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Closable, type ConnectionPlace, ConnectionTable } from './connection-table.ts';

class FakeConnection implements Closable {
  isBusy = false;
  isOpen = true;
  destroy(): void {
    this.isOpen = false;
  }
}

describe('the places for connections', () => {
  const added: { connection: FakeConnection; place: ConnectionPlace }[] = [];
  function add(table: ConnectionTable, ...addresses: readonly (string | undefined)[]): void {
    for (const address of addresses) {
      const connection = new FakeConnection();
      added.push({ connection, place: table.add(connection, address) });
    }
  }
  /** The positions of the connections that were closed. */
  const closed = () => added.flatMap(({ connection }, i) => (connection.isOpen ? [] : [i]));
  function newTable(limit: number | undefined): ConnectionTable {
    added.length = 0;
    return new ConnectionTable(limit);
  }

  test('HEALTH-15 the address with the most connections loses its oldest one', () => {
    const table = newTable(4);
    add(table, '10.0.0.1', '10.0.0.2', '10.0.0.2', '10.0.0.3', '10.0.0.4');
    assert.deepEqual([closed(), table.size], [[1], 4]);
  });

  test('HEALTH-15 among addresses with equally many, the oldest connection is closed', () => {
    const table = newTable(3);
    add(table, '10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4');
    assert.deepEqual(closed(), [0]);
  });

  test('HEALTH-15 the connection that was answered last is closed last', () => {
    const table = newTable(3);
    add(table, '10.0.0.1', '10.0.0.1', '10.0.0.1');
    added[0]?.place.answered();
    add(table, '10.0.0.1', '10.0.0.1');
    assert.deepEqual(closed(), [1, 2]);
  });

  test('HEALTH-15 a connection whose request runs is spared while others can be closed', () => {
    const table = newTable(2);
    add(table, '10.0.0.1', '10.0.0.1');
    for (const { connection } of added) connection.isBusy = true;
    add(table, '10.0.0.1');
    assert.deepEqual(closed(), [0]);
    add(table, '10.0.0.1');
    assert.deepEqual(closed(), [0, 2]);
  });

  test('HEALTH-15 by default there are 1,000 places', () => {
    const table = newTable(undefined);
    add(table, ...Array<string>(1000).fill('10.0.0.1'));
    assert.deepEqual([closed(), table.size], [[], 1000]);
    add(table, '10.0.0.1');
    assert.deepEqual([closed(), table.size], [[0], 1000]);
  });

  test('HEALTH-15 an IPv6 network has 64 bits, with or without a zone', () => {
    add(newTable(3), '2001:db8:0:2::1', '2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '10.0.0.1');
    assert.deepEqual(closed(), [1]);
    add(newTable(3), '10.0.0.1', 'fe80::1%eth0', 'fe80::2', '10.0.0.2');
    assert.deepEqual(closed(), [1]);
  });

  test('HEALTH-15 an answer makes a connection newer than those of other addresses', () => {
    const table = newTable(2);
    add(table, '10.0.0.1', '10.0.0.2');
    added[0]?.place.answered();
    add(table, '10.0.0.3');
    assert.deepEqual(closed(), [1]);
  });

  test('HEALTH-15 addresses without connections take no memory', () => {
    const table = newTable(2);
    const collect = globalThis.gc ?? assert.fail('the tests run with --expose-gc');
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 100_000; i++) {
      table.add(new FakeConnection(), `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`).free();
    }
    collect();
    assert.ok(process.memoryUsage().heapUsed - before < 5 << 20);
    assert.equal(table.size, 0);
  });

  test('HEALTH-15 an IPv6 network is one address, and a mapped IPv4 address is that of IPv4', () => {
    const table = newTable(4);
    add(table, '2001:db8::1', '::ffff:10.0.0.1', '2001:db8::2%eth0', '::ffff:10.0.0.2', '10.0.0.3');
    assert.deepEqual(closed(), [0]);
    const mapped = newTable(3);
    add(mapped, '2001:db8::1', '::ffff:10.0.0.1', '10.0.0.1', '10.0.0.3');
    assert.deepEqual(closed(), [1]);
  });

  test('HEALTH-15 a place that is free is used again, and is freed only once', () => {
    const table = newTable(2);
    add(table, '10.0.0.1', undefined);
    added[0]?.place.free();
    added[0]?.place.free();
    added[0]?.place.answered();
    assert.equal(table.size, 1);
    add(table, '10.0.0.1');
    assert.deepEqual([closed(), table.size], [[], 2]);
  });

  test('HEALTH-15 a connection that is gone does not come back with its answer', () => {
    const table = newTable(2);
    add(table, '10.0.0.1', '10.0.0.1');
    added[0]?.place.free();
    added[0]?.place.answered();
    add(table, '10.0.0.2', '10.0.0.3', '10.0.0.4');
    assert.deepEqual([closed(), table.size], [[1, 2], 2]);
  });
});
