import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice } from '../../../test/support/objects.ts';
import { CALLERS, NodeUnderTest } from '../../../test/support/outcomes.ts';

const CODES: readonly string[] = ['slow-start', 'ejection', 'ending', 'weights-unused'];

function remarks(annotations: Record<string, string>, mode: 'nftables' | 'ebpf'): readonly string[] {
  const named = Object.fromEntries(
    Object.entries(annotations).map(([name, value]) => [`pointsman.dev/${name}`, value]),
  );
  const tested = new NodeUnderTest([service('s', { annotations: named }), slice('s-1', ['10.244.1.2'])]);
  const outcome = tested.outcome(CALLERS.pod, '10.96.0.1 80', mode);
  assert.equal(outcome.kind, 'answered');
  return outcome.remarks.filter(({ code }) => CODES.includes(code)).map(({ text }) => text);
}

for (const mode of ['nftables', 'ebpf'] as const) {
  test(`BALANCE-21 explain says that a Service asks for slow start or ejection, in ${mode} mode`, () => {
    assert.deepEqual(remarks({}, mode), []);
    assert.deepEqual(remarks({ 'slow-start-seconds': '60', 'eject-after-failures': '5' }, mode), [
      'slow start: a new endpoint gets its whole share after 60 s',
      'an endpoint is left out for some time after 5 failed connections in a row',
    ]);
    assert.deepEqual(remarks({ 'eject-after-failures': '1' }, mode), [
      'an endpoint is left out for some time after 1 failed connection',
    ]);
  });

  test(`BALANCE-21 explain says that weights have no effect without the algorithm weighted, in ${mode} mode`, () => {
    const unused = ['the Service has weights, but only the algorithm weighted uses them'];
    assert.deepEqual(remarks({ weights: '10.244.1.2=3' }, mode), unused);
    assert.deepEqual(remarks({ balance: 'random', 'zone-weights': 'zone-a=3' }, mode), unused);
    assert.deepEqual(remarks({ balance: 'weighted', weights: '10.244.1.2=3' }, mode), []);
  });

  test(`ENDING-9 explain says when the connections of an endpoint that is gone end, in ${mode} mode`, () => {
    const ends = 'connections of an endpoint that is gone end';
    assert.deepEqual(remarks({ 'endpoint-end': 'reset' }, mode), [`${ends} at once`]);
    assert.deepEqual(remarks({ 'endpoint-end': 'drain-then-reset' }, mode), [`${ends} after 30 s`]);
  });
}
