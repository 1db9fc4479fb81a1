import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STATE_ORDER } from '../../../parts/service-states.ts';
import { stateAdvice } from './state-advice.ts';

test('PAGE-78 every state has a meaning, and every broken one says what to do', () => {
  for (const state of STATE_ORDER) {
    const { meaning, advice } = stateAdvice({ state, type: 'ClusterIP' });
    assert.match(meaning, /\.$/);
    if (state !== 'waiting' && state !== 'programmed') assert.match(advice ?? '', /\.$/, state);
  }
  assert.match(stateAdvice({ state: 'notProxied', type: 'ExternalName' }).advice ?? '', /DNS name/);
});
