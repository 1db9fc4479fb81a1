import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberingLog } from '../../../test/support/log.ts';
import { nftables } from './index.ts';
import { checkNftables } from './support.ts';

test('START-13 nftables mode refuses a kernel before 5.13, unless the operator switches the check off', () => {
  assert.throws(() => checkNftables('5.12.19-generic', {}), {
    message:
      'unable to create proxier: nftables mode requires kernel 5.13 or later, but this kernel is 5.12.19-generic; set KUBE_PROXY_NFTABLES_SKIP_KERNEL_VERSION_CHECK=true if this kernel supports everything that the mode needs',
  });
  assert.throws(() => checkNftables('4.19', {}));
  checkNftables('5.12.19', { KUBE_PROXY_NFTABLES_SKIP_KERNEL_VERSION_CHECK: '1' });
  for (const kernel of ['5.13.0', '6.1', '10.0', 'unknown']) checkNftables(kernel, {});
});

test('START-5 nftables mode serves both families, and needs no other program for that', async () => {
  assert.deepEqual(await nftables.supportedFamilies(rememberingLog().log), ['IPv4', 'IPv6']);
});
