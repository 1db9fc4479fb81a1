import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice } from '../../../test/support/objects.ts';
import { CALLERS, NodeUnderTest } from '../../../test/support/outcomes.ts';

function ending(annotations: Record<string, string>, mode: 'nftables' | 'ebpf'): string | undefined {
  const tested = new NodeUnderTest([service('s', { annotations }), slice('s-1', ['10.244.1.2'])]);
  const outcome = tested.outcome(CALLERS.pod, '10.96.0.1 80', mode);
  return outcome.kind === 'answered' ? outcome.remarks.find(({ code }) => code === 'ending')?.text : undefined;
}

test('ENDING-9 explain says when the connections of an endpoint that is gone end, if the Service asks for it', () => {
  const reset = { 'pointsman.dev/endpoint-end': 'reset' };
  const later = { 'pointsman.dev/endpoint-end': 'drain-then-reset' };
  for (const mode of ['nftables', 'ebpf'] as const) {
    assert.equal(ending({}, mode), undefined);
    assert.equal(ending(reset, mode), 'connections of an endpoint that is gone end at once');
    assert.equal(ending(later, mode), 'connections of an endpoint that is gone end after 30 s');
  }
});
