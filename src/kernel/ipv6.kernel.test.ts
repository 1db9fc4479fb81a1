import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasIPv6 } from './ipv6.ts';
import { NetworkNamespace } from './netns.ts';
import { writeSysctl } from './sysctl.ts';

test('KERNEL-13 a network where IPv6 is switched off has no IPv6', () => {
  const namespace = NetworkNamespace.create();
  try {
    assert.equal(hasIPv6(namespace), true);
    writeSysctl('net/ipv6/conf/all/disable_ipv6', 1, namespace);
    assert.equal(hasIPv6(namespace), false);
  } finally {
    namespace.close();
  }
});
