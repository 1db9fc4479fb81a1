import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { choosePlatform } from './platform.ts';

test('START-5 both families are served where the machine can, the primary one first', () => {
  const { log, lines } = rememberingLog();
  assert.deepEqual(choosePlatform('IPv6', ['IPv4', 'IPv6'], log, true), {
    families: ['IPv6', 'IPv4'],
    dualStack: true,
  });
  assert.deepEqual(lines, ['I kube-proxy running in dual-stack mode {"primary ipFamily":"IPv6"}']);
});

test('START-5 a machine with one family says so and works', () => {
  const { log, lines } = rememberingLog();
  assert.deepEqual(choosePlatform('IPv4', ['IPv4', 'IPv6'], log, false), { families: ['IPv4'], dualStack: false });
  assert.deepEqual(lines, ['I kube-proxy running in single-stack mode {"ipFamily":"IPv4"}']);
});

test('START-5 a primary family that cannot be served is fatal', () => {
  const { log } = rememberingLog();
  const refused = { message: 'no support for primary IP family "IPv6"' };
  assert.throws(() => choosePlatform('IPv6', ['IPv4', 'IPv6'], log, false), refused);
  assert.throws(() => choosePlatform('IPv4', ['IPv6'], log, true), {
    message: 'no support for primary IP family "IPv4"',
  });
});
