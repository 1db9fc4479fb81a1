import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberingLog } from '../../../test/support/log.ts';
import { nftables } from './index.ts';
import { checkNftables } from './support.ts';

test('START-13 a kernel before 5.13 is refused for nftables mode, unless the check is switched off', () => {
  assert.throws(() => checkNftables('5.12.19-generic', {}), {
    message:
      'unable to create proxier: nftables mode requires kernel 5.13 or later, and this is 5.12.19-generic; set KUBE_PROXY_NFTABLES_SKIP_KERNEL_VERSION_CHECK=true if yours has what is needed',
  });
  assert.throws(() => checkNftables('4.19', {}));
  checkNftables('5.12.19', { KUBE_PROXY_NFTABLES_SKIP_KERNEL_VERSION_CHECK: '1' });
  for (const kernel of ['5.13.0', '6.1', '10.0', 'unknown']) checkNftables(kernel, {});
});

test('START-5 nftables mode serves both families without any program', async () => {
  assert.deepEqual(await nftables.supportedFamilies(rememberingLog().log), ['IPv4', 'IPv6']);
});
