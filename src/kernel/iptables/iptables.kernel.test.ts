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

  inNamespace('its version, backend and features are found, and it is available', async iptables => {
    assert.match(iptables.version ?? '', /^1\.\d+/);
    assert.equal(iptables.backend, backend);
    assert.deepEqual(iptables.features, { check: true, wait: 'seconds', restoreWait: 'seconds', randomFully: true });
    assert.equal(await iptables.unavailable(), undefined);
  });

  inNamespace('a chain is made once, is found, is emptied and deleted once', async iptables => {
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

  inNamespace('rules are added at the end or the top, once, and deleted', async iptables => {
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

  inNamespace('a rule that makes no sense is a problem of its parameters', async iptables => {
    await assert.rejects(iptables.ensureRule('append', 'filter', 'INPUT', ['--bogus']), {
      code: 'KERNEL_PROGRAM',
      problem: 'parameter',
      operation: `${program} -w 5 -C INPUT -t filter --bogus`,
    });
  });

  inNamespace('a table that the kernel does not have is a problem of the version', async iptables => {
    await assert.rejects(iptables.chainExists('nosuch', 'FOO'), { problem: 'version' });
  });

  inNamespace(
    'restore keeps what it does not name, flushes what it declares, and takes counters',
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

  inNamespace('a restore that fails changes nothing of its table and names the line', async iptables => {
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

  inNamespace('a restore that the kernel refuses says so', async iptables => {
    const input = '*nat\n:FOO - [0:0]\n-A FOO -m nfacct --nfacct-name nosuch\n-A FOO -j RETURN\nCOMMIT\n';
    const error: unknown = await iptables.restore(input).catch(thrown => thrown);
    assert.ok(error instanceof IptablesError);
    // The kernel takes the rules of the legacy backend as one, so it cannot say which one it refuses.
    const object = backend === 'legacy' ? 'line 5: COMMIT' : 'line 3: -A FOO -m nfacct --nfacct-name nosuch';
    assert.equal(error.object, object);
  });

  inNamespace('comments go through restore and save unharmed', async iptables => {
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

  inNamespace('canaries are missed where they are gone', async iptables => {
    const tables = ['mangle', 'nat', 'filter'];
    assert.deepEqual(await missingCanaries(iptables, 'CANARY', tables), tables);
    for (const table of tables) assert.equal(await iptables.ensureChain(table, 'CANARY'), true);
    assert.deepEqual(await missingCanaries(iptables, 'CANARY', tables), []);
    await iptables.restore('*nat\nCOMMIT\n', { noflush: false });
    assert.deepEqual(await missingCanaries(iptables, 'CANARY', tables), ['nat']);
  });

  inNamespace('a fresh namespace has no tables to save', async iptables => {
    assert.equal(parseSave(await iptables.save()).size, 0);
    await iptables.ensureChain('nat', 'FOO');
    assert.deepEqual([...parseSave(await iptables.save()).keys()], ['nat']);
  });
}
