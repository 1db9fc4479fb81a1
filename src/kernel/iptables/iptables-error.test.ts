import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IptablesError } from './iptables-error.ts';

for (const [what, stderr, advice] of [
  [
    'a table of the legacy backend',
    "iptables v1.8.9 (legacy): can't initialize iptables table `nat': Table does not exist (do you need to insmod?)",
    'run modprobe -a iptable_nat iptable_filter iptable_mangle on the node, and ip6table_… for IPv6',
  ],
  [
    'an extension of the nf_tables backend',
    'Warning: Extension comment revision 0 not supported, missing kernel module?',
    'run modprobe -a nf_tables nft_compat on the node',
  ],
] as const) {
  test(`START-29 if the kernel lacks ${what}, the error says which modules to load`, () => {
    const error = new IptablesError('version', { operation: 'iptables -L' }, { stderr });
    assert.ok(error.message.endsWith(`; ${advice}`), error.message);
  });
}

test('START-29 other failures have no advice', () => {
  const error = new IptablesError('other', { operation: 'iptables -L' }, { stderr: 'iptables: Bad rule' });
  assert.doesNotMatch(error.message, /;/);
});
