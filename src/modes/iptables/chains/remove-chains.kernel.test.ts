import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakePrograms, refusing } from '../../../../test/support/fake-programs.ts';
import { runIn } from '../../../../test/support/run-in.ts';
import { IptablesError } from '../../../kernel/iptables/index.ts';
import { NetworkNamespace } from '../../../kernel/netns.ts';
import { openIptables } from '../../iptables-programs.ts';
import { type Removal, removeChains } from './remove-chains.ts';

const names = (...words: readonly string[]) => words.map(word => `KUBE-${word}`);
const MANY = Array.from({ length: 70 }, (_, i) => `KUBE-SEP-${i}`);

/** Removes the chains while `script` replaces iptables-restore. Returns also what is left. */
async function remove(
  chains: readonly string[],
  script: string,
  rules = '',
): Promise<Pick<Removal, 'removed' | 'errors'> & { readonly left: readonly string[]; readonly rules: string }> {
  const namespace = NetworkNamespace.create();
  const programs = new FakePrograms({});
  try {
    const declared = chains.map(chain => `:${chain} - [0:0]\n`).join('');
    runIn(namespace, 'iptables-restore', ['--noflush'], `*nat\n${declared}${rules}COMMIT\n`);
    programs.replace('iptables-restore', script);
    const iptables = await openIptables('IPv4', { namespace, env: programs.env() });
    const { removed, errors } = await removeChains(iptables, 'nat', chains);
    const saved = runIn(namespace, 'iptables-save', ['-t', 'nat']);
    const left = [...saved.matchAll(/^:(KUBE-\S+)/gm)].map(([, name = '']) => name);
    return { removed, errors, left, rules: saved };
  } finally {
    programs.close();
    namespace.close();
  }
}

test('IPT-5 the removal finds a chain that cannot be removed, even if iptables-restore names no line', async () => {
  const chains = names('SVC-A', 'SVC-B', 'SVC-C', 'SEP-A', 'SEP-B', 'SEP-C', 'SEP-D');
  const rules = '-A KUBE-SVC-B -j KUBE-SEP-C\n-A KUBE-SEP-D -j ACCEPT\n';
  const script = refusing('-X KUBE-\\(SVC-B\\|SEP-D\\)', 'busy');
  const { removed, errors, left, rules: saved } = await remove(chains, script, rules);
  assert.deepEqual(left.toSorted(), names('SEP-D', 'SVC-B'));
  assert.deepEqual([removed, errors.length], [5, 2]);
  assert.ok(
    saved.includes('-A KUBE-SEP-D -j ACCEPT'),
    'the last chain jumps to none of the others, so it keeps its rules',
  );
});

test('IPT-5 the removal gives up if iptables-restore refuses everything', async () => {
  const { removed, errors, left } = await remove(MANY, 'echo kaputt >&2; exit 1');
  assert.deepEqual([removed, left.length], [0, MANY.length]);
  assert.ok(errors.length <= 51, `${errors.length} errors`);
});

test('IPT-5 the removal makes only one attempt if the kernel has no memory', async () => {
  const { removed, errors, left } = await remove(MANY, 'echo "Cannot allocate memory" >&2; exit 4');
  assert.deepEqual([removed, left.length, errors.length], [0, MANY.length, 1]);
  assert.ok(errors[0] instanceof IptablesError);
});
