import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KernelError, settingErrorText, withModuleAdvice } from './errors.ts';

const error = (errno: string) => new KernelError('KERNEL_REFUSED', { operation: 'get it', errno, object: 'a thing' });

test('START-29 the advice stands at the end of the message', () => {
  const advised = new KernelError('KERNEL_SOCKET', { operation: 'get it', errno: 'EPERM', advice: 'be root' });
  assert.equal(advised.message, 'get it: EPERM; be root');
});

for (const errno of ['ENOENT', 'EINVAL', 'EOPNOTSUPP', 'EPROTONOSUPPORT', 'EAFNOSUPPORT']) {
  test(`START-29 ${errno} may mean that a module is missing`, () => {
    const advised = withModuleAdvice(error(errno), 'ip_vs');
    assert.ok(advised instanceof KernelError);
    assert.equal(advised.message, `get it: ${errno} (a thing); run modprobe ip_vs on the node`);
    assert.deepEqual([advised.code, advised.errno, advised.object], ['KERNEL_REFUSED', errno, 'a thing']);
  });
}

test('START-29 other errors stay as they are', () => {
  for (const other of [error('EBUSY'), new Error('another')]) assert.equal(withModuleAdvice(other, 'ip_vs'), other);
});

test('START-29 the error about a setting that cannot be written says how to set it', () => {
  const text = settingErrorText(new KernelError('KERNEL_SOCKET', { operation: 'set it', errno: 'EROFS' }));
  assert.equal(
    text,
    'set it: EROFS; run kube-proxy --init-only in a privileged init container first, or set it on the node',
  );
  assert.equal(settingErrorText(error('EBUSY')), 'get it: EBUSY (a thing)');
});
