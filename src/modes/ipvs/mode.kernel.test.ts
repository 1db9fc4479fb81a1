import assert from 'node:assert/strict';
import { test } from 'node:test';
import { descriptorsAfterFailures } from '../../../test/support/ipvs-failing-opens.ts';
import { SILENT_EVENTS } from '../mode.ts';
import { IpvsMode } from './mode.ts';

test('IPVS-22 the mode leaves no socket open if one of them cannot be opened', () => {
  const { failures, left } = descriptorsAfterFailures(namespace => new IpvsMode({ namespace, events: SILENT_EVENTS }));
  assert.ok(failures >= 6);
  assert.equal(left, 0);
});
