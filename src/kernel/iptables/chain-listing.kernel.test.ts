import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { withNamespace } from '../../../test/support/namespaces.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { Turns } from '../../lib/turns.ts';
import { Iptables, type IptablesRun } from './index.ts';
import { XtablesLock } from './xtables-lock.ts';

const SETUP = `*nat
:A - [0:0]
:B - [0:0]
:C - [0:0]
-A PREROUTING -j A
-A A -s 10.0.0.1/32 -j B
-A A -s 10.0.0.2/32 -j B
-A C -s 10.0.0.3/32 -j B
COMMIT
`;
const WANTED = ['PREROUTING', 'A', 'B', 'MISSING'].map(chain => ({ table: 'nat', chain }));

for (const [backend, program] of [
  ['legacy', 'iptables-legacy'],
  ['nf_tables', 'iptables-nft'],
] as const) {
  describe(`chains of the ${backend} backend`, () => {
    test('READ-8 KERNEL-11 a listing has the chains that exist, and only the rules that the caller keeps', () =>
      withNamespace(async namespace => {
        const runs: IptablesRun[] = [];
        const iptables = await Iptables.open('ip', { namespace, program, onRun: run => runs.push(run) });
        await iptables.restore(SETUP);
        runs.length = 0;
        const { listing, isCut } = await iptables.listChains(WANTED, (_, rule) => !rule.includes('10.0.0.2'), 10_000);
        const found = Array.from(listing.get('nat') ?? []).sort(([a], [b]) => (a < b ? -1 : 1));
        assert.deepEqual(found, [
          ['A', ['-s 10.0.0.1/32 -j B']],
          ['B', []],
          ['PREROUTING', ['-j A']],
        ]);
        assert.equal(isCut, false);
        const programs = runs.map(({ command }) => command.split(' ', 1)[0]);
        assert.deepEqual(programs, backend === 'legacy' ? [`${program}-save`] : WANTED.map(() => program));
      }));

    test('READ-4 a listing waits for no other program of this process', () =>
      withNamespace(async namespace => {
        const turns = new Turns();
        const iptables = await Iptables.open('ip', { namespace, program, turns });
        await iptables.restore(SETUP);
        let end = () => {};
        const busy = turns.take(() => new Promise<void>(resolve => (end = resolve)));
        const { listing } = await iptables.listChains(WANTED, () => true, 10_000);
        assert.equal(listing.get('nat')?.get('A')?.length, 2);
        end();
        await busy;
      }));
  });
}

test('READ-8 the nf_tables backend lists nothing of a missing table, and does not create it', () =>
  withNamespace(async namespace => {
    const iptables = await Iptables.open('ip', { namespace, program: 'iptables-nft' });
    const { listing } = await iptables.listChains(WANTED, () => true, 10_000);
    assert.deepEqual([...listing], []);
    assert.equal(runIn(namespace, 'nft', ['list', 'tables']), '');
  }));

test('READ-4 a listing of the legacy backend does not wait for the lock of iptables', () =>
  withNamespace(async namespace => {
    const folder = mkdtempSync(join(tmpdir(), 'lock-'));
    const lockFile = join(folder, 'lock');
    try {
      const iptables = await Iptables.open('ip', { namespace, program: 'iptables-legacy', lockFile });
      await iptables.restore(SETUP);
      const lock = await XtablesLock.take({ file: lockFile, namespace });
      const { listing } = await iptables.listChains(WANTED, () => true, 10_000);
      lock.release();
      assert.equal(listing.get('nat')?.get('A')?.length, 2);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }));
