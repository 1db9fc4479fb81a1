import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProgrammedLease } from '../../api/index.ts';
import type { Target } from './target.ts';
import { missingOn } from './verdict.ts';

const NOW = Date.UTC(2026, 0, 1);
const NODE = { name: 'node-a', bootId: 'boot-1' };
const TARGET: Target = { service: 'shop/web', services: '100', endpointSlices: '200', sliceCount: 1 };
const LEASE: ProgrammedLease = {
  node: 'node-a',
  services: '100',
  endpointSlices: '200',
  setAside: [],
  setAsideCount: 0,
  bootId: 'boot-1',
  renewedAt: NOW - 60_000,
  durationSeconds: 180,
};

function missing(lease: Partial<ProgrammedLease>, target: Partial<Target> = {}, node = NODE) {
  return missingOn(node, { ...LEASE, ...lease }, { ...TARGET, ...target }, NOW);
}

test('PROGRAMMED-12 a node has the Service if its Lease has reached both versions', () => {
  assert.equal(missing({}), undefined);
  assert.equal(missing({ services: '101', endpointSlices: '1000' }), undefined);
  assert.equal(missing({ endpointSlices: undefined }, { endpointSlices: undefined }), undefined);
  assert.deepEqual(missing({ endpointSlices: '199' }), {
    node: 'node-a',
    cause: 'behind',
    message: 'it has Services up to version 100 and EndpointSlices up to version 199',
  });
  assert.equal(missing({ services: '99' })?.cause, 'behind');
  assert.equal(missing({ services: undefined })?.cause, 'behind');
});

test('PROGRAMMED-12 without a Lease the operator is asked for the flag, and with an old one for the proxy', () => {
  assert.match(missingOn(NODE, undefined, TARGET, NOW)?.message ?? '', /--report-programmed/);
  const stale = missing({ renewedAt: NOW - 300_000 });
  assert.equal(stale?.cause, 'stale');
  assert.match(stale?.message ?? '', /last renewed 5 min.* ago: does its proxy run\?/);
  assert.equal(missing({ renewedAt: Number.NaN })?.cause, 'stale');
});

test('PROGRAMMED-12 a Lease from before the last boot of the node does not count', () => {
  assert.equal(missing({ bootId: 'boot-0' })?.cause, 'booted');
  assert.equal(missing({ bootId: undefined }), undefined);
  assert.equal(missingOn({ name: 'node-a', bootId: undefined }, LEASE, TARGET, NOW), undefined);
});

test('PROGRAMMED-12 a Service that is set aside is not programmed', () => {
  assert.equal(missing({ setAside: ['shop/web'], setAsideCount: 1 })?.cause, 'set-aside');
  assert.equal(missing({ setAside: ['shop/cart'], setAsideCount: 1 }), undefined);
  // The set-aside version may be an older one.
  assert.equal(missing({ services: '99', setAside: ['shop/web'], setAsideCount: 1 })?.cause, 'behind');
  assert.match(missing({ setAside: ['shop/cart'], setAsideCount: 80 })?.message ?? '', /does not name them all/);
});
