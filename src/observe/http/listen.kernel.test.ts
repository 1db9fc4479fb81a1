import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { readSysctl, writeSysctl } from '../../kernel/sysctl.ts';
import type { Ip } from '../../net/index.ts';
import { listenIn } from './listen.ts';

test('HEALTH-9 listening in a network namespace leaves its settings as they were', async () => {
  const namespace = NetworkNamespace.create();
  const setting = 'net/ipv6/bindv6only';
  try {
    for (const value of [1, 0]) {
      writeSysctl(setting, value, namespace);
      const address = { ip: '::' as Ip, port: 0, family: value === 0 ? ('IPv6' as const) : undefined };
      const server = await listenIn(namespace)(address, () => {});
      server.close();
      assert.equal(Number(readSysctl(setting, namespace)), value);
    }
  } finally {
    namespace.close();
  }
});
