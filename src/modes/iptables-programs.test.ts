import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { IptablesError } from '../kernel/iptables/index.ts';
import { iptablesFamilies } from './iptables-programs.ts';

const missing = new IptablesError('missing', { operation: 'ip6tables -S POSTROUTING', errno: 'ENOENT' });

test('START-5 iptables mode serves the families whose programs work', async () => {
  const { log, lines } = rememberingLog();
  const support = async () => ({ families: ['IPv4'] as const, unavailable: { IPv6: missing } });
  assert.deepEqual(await iptablesFamilies(log, support), ['IPv4']);
  assert.deepEqual(lines, [
    'I No iptables support for family {"err":"ip6tables -S POSTROUTING: ENOENT","ipFamily":"IPv6"}',
  ]);
});

test('START-5 iptables mode fails to start without any iptables', async () => {
  const { log } = rememberingLog();
  const support = async () => ({ families: [], unavailable: { IPv4: missing, IPv6: missing } });
  await assert.rejects(iptablesFamilies(log, support), {
    message:
      'iptables is not available on this host : ip6tables -S POSTROUTING: ENOENT, ip6tables -S POSTROUTING: ENOENT',
  });
});
