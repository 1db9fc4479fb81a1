import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NetworkNamespace, namespaceCookie } from './netns.ts';

test('BPF-13 every network namespace has a cookie of its own, which stays the same', () => {
  const namespaces = [NetworkNamespace.create(), NetworkNamespace.create()];
  const cookies = namespaces.map(namespaceCookie);
  assert.equal(new Set([...cookies, namespaceCookie()]).size, 3);
  assert.deepEqual(namespaces.map(namespaceCookie), cookies);
  assert.equal(
    namespaces[0]?.run(() => namespaceCookie()),
    cookies[0],
  );
  for (const namespace of namespaces) namespace.close();
});
