import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { NetworkNamespace } from '../netns.ts';
import type { IptablesFamily } from './arguments.ts';
import { missingCanaries } from './canary.ts';
import { Iptables } from './iptables.ts';
import { IptablesError } from './iptables-error.ts';
import { quoteRule, splitRule } from './rule-text.ts';
import { parseSave } from './save.ts';
import type { Backend } from './version.ts';

const programs: readonly (readonly [string, IptablesFamily, Backend])[] = [
  ['iptables-nft', 'ip', 'nf_tables'],
  ['iptables-legacy', 'ip', 'legacy'],
  ['ip6tables-nft', 'ip6', 'nf_tables'],
  ['ip6tables-legacy', 'ip6', 'legacy'],
];

for (const [program, family, backend] of programs) {
  const host = family === 'ip' ? '10.1.2.3' : 'fd00::3';
  const bits = family === 'ip' ? 32 : 128;

  const inNamespace = (name: string, work: (iptables: Iptables, namespace: NetworkNamespace) => Promise<void>) =>
    test(`KERNEL-11 ${program}: ${name}`, async () => {
      const namespace = NetworkNamespace.create();
      try {
        await work(await Iptables.open(family, { program, namespace, timeoutMs: 10_000 }), namespace);
      } finally {
        namespace.close();
      }
    });

  const rules = async (iptables: Iptables, table: string, chain: string) =>
    parseSave(await iptables.save(table))
      .get(table)
      ?.get(chain)
      ?.rules.map(({ text }) => text);

  inNamespace('open finds the version, the backend and the features', async iptables => {
    assert.match(iptables.version ?? '', /^1\.\d+/);
    assert.equal(iptables.backend, backend);
    assert.deepEqual(iptables.features, { check: true, wait: 'seconds', restoreWait: 'seconds', randomFully: true });
    assert.equal(await iptables.availabilityError(), undefined);
  });

  inNamespace('a chain is created once, found, flushed, and deleted once', async iptables => {
    assert.equal(await iptables.chainExists('nat', 'FOO'), false);
    assert.equal(await iptables.ensureChain('nat', 'FOO'), true);
    assert.equal(await iptables.ensureChain('nat', 'FOO'), false);
    assert.equal(await iptables.chainExists('nat', 'FOO'), true);
    assert.equal(await iptables.chainExists('filter', 'FOO'), false);
    await iptables.ensureRule('append', 'nat', 'FOO', ['-j', 'RETURN']);
    const busy: unknown = await iptables.deleteChain('nat', 'FOO').catch(thrown => thrown);
    assert.ok(busy instanceof IptablesError);
    assert.equal(await iptables.flushChain('nat', 'FOO'), true);
    assert.equal(await iptables.deleteChain('nat', 'FOO'), true);
    assert.equal(await iptables.deleteChain('nat', 'FOO'), false);
    assert.equal(await iptables.flushChain('nat', 'FOO'), false);
  });

  inNamespace('a rule is added once, at the end or at the top, and deleted once', async iptables => {
    const first = ['-m', 'comment', '--comment', 'the first "rule"', '-j', 'ACCEPT'];
    const last = ['-s', host, '-j', 'RETURN'];
    assert.equal(await iptables.ensureRule('append', 'filter', 'INPUT', last), true);
    assert.equal(await iptables.ensureRule('prepend', 'filter', 'INPUT', first), true);
    assert.equal(await iptables.ensureRule('append', 'filter', 'INPUT', first), false);
    assert.deepEqual(await rules(iptables, 'filter', 'INPUT'), [
      String.raw`-m comment --comment "the first \"rule\"" -j ACCEPT`,
      `-s ${host}/${bits} -j RETURN`,
    ]);
    assert.equal(await iptables.deleteRule('filter', 'INPUT', first), true);
    assert.equal(await iptables.deleteRule('filter', 'INPUT', first), false);
    assert.equal(await iptables.deleteRule('filter', 'INPUT', ['-j', 'NOSUCH']), false);
    assert.equal(await iptables.deleteRule('filter', 'NOSUCH', last), false);
    assert.equal(await iptables.ruleExists('filter', 'INPUT', last), true);
    assert.equal(await iptables.ruleExists('filter', 'INPUT', first), false);
  });

  inNamespace('an invalid rule gives a failure of the kind parameter', async iptables => {
    await assert.rejects(iptables.ensureRule('append', 'filter', 'INPUT', ['--bogus']), {
      code: 'KERNEL_PROGRAM',
      kind: 'parameter',
      operation: `${program} -w 5 -C INPUT -t filter --bogus`,
    });
  });

  inNamespace('a table that the kernel does not have gives a failure of the kind version', async iptables => {
    await assert.rejects(iptables.chainExists('nosuch', 'FOO'), { kind: 'version' });
  });

  inNamespace(
    'restore keeps other chains, flushes the chains that it declares, and sets counters',
    async (iptables, namespace) => {
      await iptables.restore(['*nat\n:KEEP - [0:0]\n-A KEEP -j RETURN\n', ':FOO - [0:0]\n-A FOO -j ACCEPT\nCOMMIT\n']);
      await iptables.restore('*nat\n:FOO - [0:0]\n[7:70] -A FOO -j RETURN\nCOMMIT\n*filter\n:BAR - [0:0]\nCOMMIT\n');
      assert.deepEqual(await rules(iptables, 'nat', 'KEEP'), ['-j RETURN']);
      assert.deepEqual(await rules(iptables, 'nat', 'FOO'), ['-j RETURN']);
      const { stdout } = namespace.run(() => spawnSync(`${program}-save`, ['-c', '-t', 'nat'], { encoding: 'utf8' }));
      const rule = parseSave(stdout).get('nat')?.get('FOO')?.rules[0];
      // ip6tables-nft 1.8.9 loses the counters of the input.
      if (program !== 'ip6tables-nft') assert.deepEqual(rule, { text: '-j RETURN', packets: 7, bytes: 70 });
      assert.equal(await iptables.chainExists('filter', 'BAR'), true);
      await iptables.restore('*nat\n:FOO - [0:0]\n-X FOO\nCOMMIT\n*filter\n-X BAR\nCOMMIT\n', { table: 'nat' });
      assert.equal(await iptables.chainExists('nat', 'FOO'), false);
      assert.equal(await iptables.chainExists('filter', 'BAR'), true);
      await iptables.restore('*nat\nCOMMIT\n', { noflush: false });
      assert.equal(await iptables.chainExists('nat', 'KEEP'), false);
    },
  );

  inNamespace('a failed restore changes nothing in its table, and the error names the line', async iptables => {
    const cases: readonly (readonly [string, string])[] = [
      ['-A NOSUCH -j RETURN', 'line 4: -A NOSUCH -j RETURN'],
      ['-A FOO --bogus', 'line 4: -A FOO --bogus'],
      ['-X NOSUCH', 'line 4: -X NOSUCH'],
      ['-A FOO -m set --match-set nosuch dst', 'line 4: -A FOO -m set --match-set nosuch dst'],
      ['-A FOO -j NOSUCH', 'line 4: -A FOO -j NOSUCH'],
      ['nonsense', 'line 4: nonsense'],
    ];
    for (const [line, object] of cases) {
      const input = ['*nat', ':FOO - [0:0]', '-A FOO -j ACCEPT', line, '-A FOO -j RETURN', 'COMMIT', ''].join('\n');
      await assert.rejects(iptables.restore(input), { code: 'KERNEL_PROGRAM', object });
      assert.equal(await iptables.chainExists('nat', 'FOO'), false, line);
    }
  });

  inNamespace('the error of a restore that the kernel refuses names the line', async iptables => {
    const input = '*nat\n:FOO - [0:0]\n-A FOO -m nfacct --nfacct-name nosuch\n-A FOO -j RETURN\nCOMMIT\n';
    const error: unknown = await iptables.restore(input).catch(thrown => thrown);
    assert.ok(error instanceof IptablesError);
    // The legacy backend gives all rules to the kernel at once, so the kernel cannot say which rule it refuses.
    const object = backend === 'legacy' ? 'line 5: COMMIT' : 'line 3: -A FOO -m nfacct --nfacct-name nosuch';
    assert.equal(error.object, object);
  });

  inNamespace('restore and save do not change comments', async iptables => {
    const comments = fc.sample(
      fc.string({ unit: fc.constantFrom(...'ab"\\\' \t-#!ü€'), minLength: 1, maxLength: 40 }),
      {
        numRuns: 60,
        seed: 1,
      },
    );
    const lines = comments.map(comment => quoteRule(['-A', 'FOO', '-m', 'comment', '--comment', comment]));
    await iptables.restore(['*nat\n:FOO - [0:0]\n', ...lines.map(line => `${line}\n`), 'COMMIT\n']);
    const saved = (await rules(iptables, 'nat', 'FOO')) ?? [];
    assert.deepEqual(
      saved.map(text => splitRule(text)[3]),
      comments,
    );
  });

  inNamespace('missingCanaries returns the tables without the canary chain', async iptables => {
    const tables = ['mangle', 'nat', 'filter'];
    assert.deepEqual(await missingCanaries(iptables, 'CANARY', tables), tables);
    for (const table of tables) assert.equal(await iptables.ensureChain(table, 'CANARY'), true);
    assert.deepEqual(await missingCanaries(iptables, 'CANARY', tables), []);
    await iptables.restore('*nat\nCOMMIT\n', { noflush: false });
    assert.deepEqual(await missingCanaries(iptables, 'CANARY', tables), ['nat']);
  });

  inNamespace('save lists only tables that exist', async iptables => {
    assert.equal(parseSave(await iptables.save()).size, 0);
    await iptables.ensureChain('nat', 'FOO');
    assert.deepEqual([...parseSave(await iptables.save()).keys()], ['nat']);
  });
}
