import assert from 'node:assert/strict';
import { test } from 'node:test';
import { socketPrograms } from './index.ts';

/** More instructions than these nobody reads without a note. IPv6 addresses take eight to copy. */
const MAX_WITHOUT_NOTE = 20;

test('EBPF-23 the listing of a program says what each step is for, and names maps and labels', () => {
  const parts = { hasAffinity: true, hasLeastConnections: true, countsConnections: true, canRefuse: true };
  for (const { name, assembled } of socketPrograms({ nodeCookie: 1n, scope: 'listed', ...parts })) {
    const { listing, references } = assembled;
    assert.match(listing[0] ?? '', /^; /, `${name} begins with a note`);
    const labels = new Set(listing.filter(line => line.endsWith(':')).map(line => line.slice(0, -1)));
    const named = listing.flatMap(line => /goto (\S+)$/.exec(line)?.[1] ?? []);
    assert.deepEqual(
      named.filter(label => !labels.has(label)),
      [],
    );
    for (const { map } of references) assert.ok(listing.some(line => line.includes(`map[${map}]`)));
    let run = 0;
    for (const line of listing) {
      run = line.startsWith(';') ? 0 : run + (/^\d/.test(line) ? 1 : 0);
      assert.ok(run <= MAX_WITHOUT_NOTE, `${name}, ${line}`);
    }
  }
});

test('EBPF-23 the listing of connect4 without further parts', () => {
  const parts = { hasAffinity: false, hasLeastConnections: false, countsConnections: false, canRefuse: false };
  const [connect4] = socketPrograms({ nodeCookie: 7n, scope: 'node', ...parts });
  const steps = connect4?.assembled.listing.filter(line => line.startsWith(';') || /^[a-z]/.test(line));
  assert.deepEqual(steps, [
    '; the context',
    '; only TCP',
    '; only sockets of the node itself',
    '; the address 0 means this machine',
    '; key = the address and port that the process named',
    '; target = frontends4[key]',
    '; no Service has this address: is it a node port?',
    '; a loopback address is the node only in its own namespace',
    'node-port-v4:',
    '; target = frontends4[any address, port]',
    'found-v4:',
    '; pool and flags, in one load',
    '; does a proxy still keep these maps: is now before lease[0]?',
    "; the socket's network namespace",
    '; is the target only for the node?',
    'for-all-v4:',
    '; does the target refuse?',
    '; run = pools[pool]: first and count, in one load',
    '; a pool without endpoints is left to the network',
    '; endpoint = slots4[run.first + random % run.count]',
    '; its address and port',
    '; is it still the same target?',
    '; the socket remembers the Service: peers[socket]',
    '; its namespace and the address that the process named',
    '; and its endpoint',
    'no-record-v4:',
    '; the socket connects to the endpoint',
    'leave:',
    '; the network serves the address that the process named',
    'forget:',
    '; the socket forgets an earlier Service',
    'forgotten:',
    '; the verdict',
    'not-tcp:',
    '; other protocols',
  ]);
});
