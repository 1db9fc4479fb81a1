import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakePrograms } from '../../../test/support/fake-programs.ts';
import { NetworkNamespace } from '../netns.ts';
import type { IptablesFamily } from './arguments.ts';
import { chainsOfBackend } from './backends.ts';
import { Iptables, type IptablesOptions } from './iptables.ts';

async function chainsByBackend(family: IptablesFamily, prefix: string, options: IptablesOptions) {
  return {
    nf_tables: await chainsOfBackend(family, 'nf_tables', prefix, options),
    legacy: await chainsOfBackend(family, 'legacy', prefix, options),
  };
}

test('KERNEL-11 finds a chain that exists in both backends at once', async () => {
  const namespace = NetworkNamespace.create();
  try {
    assert.deepEqual(await chainsByBackend('ip', 'KUBE-', { namespace }), { nf_tables: [], legacy: [] });
    for (const program of ['iptables-nft', 'iptables-legacy']) {
      const iptables = await Iptables.open('ip', { program, namespace });
      await iptables.ensureChain('nat', 'KUBE-SERVICES');
      await iptables.ensureChain('nat', 'OTHER');
    }
    const chains = [{ table: 'nat', chain: 'KUBE-SERVICES' }];
    assert.deepEqual(await chainsByBackend('ip', 'KUBE-', { namespace }), { nf_tables: chains, legacy: chains });
    assert.deepEqual(await chainsByBackend('ip6', 'KUBE-', { namespace }), { nf_tables: [], legacy: [] });
  } finally {
    namespace.close();
  }
});

test('KERNEL-11 a backend that is not installed has no chains', async () => {
  const programs = new FakePrograms({});
  try {
    assert.deepEqual(await chainsByBackend('ip', 'X', { env: programs.env({ only: true }) }), {
      nf_tables: [],
      legacy: [],
    });
  } finally {
    programs.close();
  }
});
