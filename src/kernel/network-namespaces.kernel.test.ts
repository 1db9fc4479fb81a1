import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setLoopbackUp, withNamespace } from '../../test/support/namespaces.ts';
import { distinctNamespacePaths, namespaceAddresses, networkNamespacePaths } from './network-namespaces.ts';

test('ENDING-8 each network namespace is named once, without that of the node', async () => {
  await withNamespace(async namespace => {
    const own = `/proc/${process.pid}/ns/net`;
    assert.ok([...networkNamespacePaths()].includes(own));
    const paths = [own, namespace.path, '/proc/self/ns/net', '/run/netns/no-such-namespace'];
    assert.deepEqual([...distinctNamespacePaths(undefined, paths)], [namespace.path]);
    assert.deepEqual([...distinctNamespacePaths(namespace, paths)], [own]);
    setLoopbackUp(namespace);
    assert.deepEqual([...namespaceAddresses(namespace)].sort(), ['127.0.0.1', '::1']);
  });
});
