import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Family, Ip } from '../../net/index.ts';
import { ListenError } from './listen-error.ts';

function text(ip: string, family: Family | undefined, cause: unknown): string {
  return new ListenError({ ip: ip as Ip, port: 31_005, family }, cause).message;
}

test("HEALTH-9 HEALTH-11 the error for an address that is in use has upstream's words", () => {
  const taken = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });
  assert.equal(text('0.0.0.0', 'IPv4', taken), 'listen tcp4 0.0.0.0:31005: bind: address already in use');
  assert.equal(text('fd00::2', 'IPv6', taken), 'listen tcp6 [fd00::2]:31005: bind: address already in use');
  assert.equal(text('127.0.0.1', undefined, taken), 'listen tcp 127.0.0.1:31005: bind: address already in use');
  assert.equal(new ListenError({ ip: '::' as Ip, port: 1 }, taken).code, 'EADDRINUSE');
  assert.equal(text('0.0.0.0', undefined, new Error('no luck')), 'listen tcp 0.0.0.0:31005: no luck');
});

test("HEALTH-11 the kernel's usual errors have upstream's words", () => {
  for (const [code, words] of [
    ['EADDRNOTAVAIL', 'cannot assign requested address'],
    ['EACCES', 'permission denied'],
    ['EPERM', 'operation not permitted'],
    ['EINVAL', 'invalid argument'],
  ] as const) {
    const cause = Object.assign(new Error(`listen ${code}`), { code });
    assert.equal(text('10.0.0.1', undefined, cause), `listen tcp 10.0.0.1:31005: bind: ${words}`);
  }
});
