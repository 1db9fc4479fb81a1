import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { FakePrograms } from '../../../test/support/fake-programs.ts';
import type { IptablesFailureKind } from './failure-kind.ts';
import { Iptables, type IptablesOptions } from './iptables.ts';
import { IptablesError } from './iptables-error.ts';
import type { IptablesRun } from './runner.ts';

interface Fakes {
  /** A shell script that each program runs after it has logged its command line. */
  readonly iptables?: string;
  readonly restore?: string;
  readonly save?: string;
  readonly version?: string;
  readonly restoreVersion?: string;
}

/** Runs `work` with fake programs and returns their command lines. */
async function withFakes(
  { iptables = '', restore = '', save = '', version = 'iptables v1.8.9 (legacy)', restoreVersion = '' }: Fakes,
  work: (iptables: Iptables) => Promise<unknown>,
  options: IptablesOptions = {},
): Promise<string[]> {
  const logCall = 'LOG="$' + '{0%/*}/log"; echo "$' + '{0##*/} $*" >> "$LOG"; ';
  const printVersion = (text: string) => `case "$*" in *--version*) echo '${text}'; exit 0;; esac\n`;
  const programs = new FakePrograms({
    iptables: logCall + printVersion(version) + iptables,
    'iptables-restore': logCall + printVersion(restoreVersion) + restore,
    'iptables-save': logCall + save,
  });
  try {
    const lockFile = `${programs.folder}/lock`;
    await work(await Iptables.open('ip', { env: programs.env(), lockFile, timeoutMs: 2000, ...options }));
    const log = `${programs.folder}/log`;
    const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
    return lines.filter(line => !line.endsWith('--version'));
  } finally {
    programs.close();
  }
}

const absentRule = `case "$*" in *-C*) echo 'iptables: Bad rule (does a matching rule exist in that chain?).' >&2; exit 1;; esac`;

test('KERNEL-9 ensureChain creates a chain, and returns false if it exists', async () => {
  const created = await withFakes({}, async iptables => assert.equal(await iptables.ensureChain('nat', 'FOO'), true));
  assert.deepEqual(created, ['iptables -w 5 -N FOO -t nat']);
  await withFakes({ iptables: 'echo "iptables: Chain already exists." >&2; exit 1' }, async iptables =>
    assert.equal(await iptables.ensureChain('nat', 'FOO'), false),
  );
});

test('KERNEL-9 ensureChain throws for another reason, although the exit status is the same', async () => {
  const iptables = 'echo "iptables: Invalid argument. Run \\`dmesg\' for more information." >&2; exit 1';
  await withFakes({ iptables }, async it => {
    await assert.rejects(it.ensureChain('nat', 'FOO'), {
      code: 'KERNEL_PROGRAM',
      kind: 'other',
      operation: 'iptables -w 5 -N FOO -t nat',
      reason: 'exit status 1',
      kernelMessage: "iptables: Invalid argument. Run `dmesg' for more information.",
    });
  });
});

test('KERNEL-9 ensureRule adds a missing rule at the end or at the top', async () => {
  const calls = await withFakes({ iptables: absentRule }, async iptables => {
    assert.equal(await iptables.ensureRule('append', 'nat', 'OUTPUT', ['-j', 'FOO']), true);
    assert.equal(await iptables.ensureRule('prepend', 'nat', 'OUTPUT', ['-j', 'FOO']), true);
  });
  assert.deepEqual(calls, [
    'iptables -w 5 -C OUTPUT -t nat -j FOO',
    'iptables -w 5 -A OUTPUT -t nat -j FOO',
    'iptables -w 5 -C OUTPUT -t nat -j FOO',
    'iptables -w 5 -I OUTPUT -t nat -j FOO',
  ]);
});

test('KERNEL-9 ensureRule does not move an existing rule', async () => {
  const calls = await withFakes({}, async iptables =>
    assert.equal(await iptables.ensureRule('prepend', 'nat', 'OUTPUT', ['-j', 'FOO']), false),
  );
  assert.deepEqual(calls, ['iptables -w 5 -C OUTPUT -t nat -j FOO']);
});

test('KERNEL-9 ensureRule adds nothing if the check itself fails', async () => {
  const calls = await withFakes({ iptables: 'echo "unknown option" >&2; exit 2' }, async iptables =>
    assert.rejects(iptables.ensureRule('append', 'nat', 'OUTPUT', ['--bogus']), { kind: 'parameter' }),
  );
  assert.deepEqual(calls, ['iptables -w 5 -C OUTPUT -t nat --bogus']);
});

test('KERNEL-9 ensureRule searches the output of iptables-save if the version has no -C', async () => {
  const save = `printf '*nat\\n:OUTPUT ACCEPT [0:0]\\n-A OUTPUT -m comment --comment "a b" -j FOO\\nCOMMIT\\n'`;
  const calls = await withFakes({ save, version: 'iptables v1.4.7' }, async iptables => {
    const rule = ['-m', 'comment', '--comment', 'a b', '-j'];
    assert.equal(await iptables.ensureRule('append', 'nat', 'OUTPUT', [...rule, 'FOO']), false);
    assert.equal(await iptables.ensureRule('append', 'nat', 'OUTPUT', [...rule, 'BAR']), true);
  });
  assert.deepEqual(calls, [
    'iptables-save -t nat',
    'iptables-save -t nat',
    'iptables -A OUTPUT -t nat -m comment --comment a b -j BAR',
  ]);
});

for (const words of [
  'iptables: Bad rule (does a matching rule exist in that chain?).',
  'iptables: No chain/target/match by that name.',
  "iptables v1.8.9 (nf_tables): Chain 'FOO' does not exist",
  "iptables v1.8.9 (legacy): Couldn't load target 'FOO':No such file or directory",
]) {
  test(`KERNEL-9 deleteRule returns false for a missing rule: ${words}`, async () => {
    await withFakes({ iptables: `echo "${words}" >&2; exit 2` }, async iptables =>
      assert.equal(await iptables.deleteRule('nat', 'OUTPUT', ['-j', 'FOO']), false),
    );
  });
}

test('KERNEL-9 deleteRule, flushChain and deleteChain run one command each', async () => {
  const calls = await withFakes({}, async iptables => {
    assert.equal(await iptables.deleteRule('nat', 'OUTPUT', ['-j', 'FOO']), true);
    assert.equal(await iptables.flushChain('nat', 'FOO'), true);
    assert.equal(await iptables.deleteChain('nat', 'FOO'), true);
  });
  assert.deepEqual(calls, [
    'iptables -w 5 -D OUTPUT -t nat -j FOO',
    'iptables -w 5 -F FOO -t nat',
    'iptables -w 5 -X FOO -t nat',
  ]);
});

test('KERNEL-9 exit status 0 means that a chain exists, 1 that it does not, any other is an error', async () => {
  const iptables = 'case "$*" in *" FOO "*) exit 0;; *" BAR "*) exit 1;; *) exit 4;; esac';
  await withFakes({ iptables }, async it => {
    assert.equal(await it.chainExists('nat', 'FOO'), true);
    assert.equal(await it.chainExists('nat', 'BAR'), false);
    await assert.rejects(it.chainExists('nat', 'BAZ'), { kind: 'resource' });
  });
});

const failureKinds: readonly (readonly [string, IptablesFailureKind])[] = [
  ['exit 1', 'other'],
  ['exit 2', 'parameter'],
  ['exit 3', 'version'],
  ['exit 4', 'resource'],
  ['echo "Another app is currently holding the xtables lock. Stopped waiting after 5s." >&2; exit 4', 'lock'],
  ['echo "Another app is currently holding the xtables lock; still 5s 0us time ahead" >&2; exit 4', 'lock'],
  ['exit 111', 'other'],
  ['kill -9 $$', 'crashed'],
];

for (const [script, kind] of failureKinds) {
  test(`KERNEL-9 a program that does \`${script}\` gives a failure of the kind ${kind}`, async () => {
    await withFakes({ iptables: script }, async iptables => {
      const error = await iptables.availabilityError();
      assert.equal(error?.kind, kind);
      assert.equal(error.operation, 'iptables -w 5 -S POSTROUTING -t nat');
    });
  });
}

test('KERNEL-9 a program that hangs gives a failure of the kind timed-out', async () => {
  const version = "'; sleep 30; echo '";
  const hanging = async (iptables: Iptables) => {
    assert.equal(iptables.version, undefined);
    assert.equal((await iptables.availabilityError())?.kind, 'timed-out');
  };
  await withFakes({ version, iptables: 'sleep 30' }, hanging, { timeoutMs: 60 });
});

test('KERNEL-9 the availability error of a missing program says that it is missing', async () => {
  const programs = new FakePrograms({});
  try {
    const iptables = await Iptables.open('ip6', { env: programs.env({ only: true }) });
    assert.equal(iptables.version, undefined);
    const error = await iptables.availabilityError();
    assert.equal(error?.kind, 'missing');
    assert.equal(error.message, 'ip6tables -S POSTROUTING -t nat: ENOENT: there is no such program');
  } finally {
    programs.close();
  }
});

test('KERNEL-9 restore runs with the flags of its version', async () => {
  const called = async (version: string, restoreVersion: string) =>
    (await withFakes({ version, restoreVersion }, it => it.restore('*nat\nCOMMIT\n', { table: 'nat' })))[0];
  assert.equal(await called('iptables v1.8.9 (nf_tables)', ''), 'iptables-restore -w 5 -T nat --noflush --counters');
  assert.equal(
    await called('iptables v1.4.21', 'iptables-restore v1.4.21'),
    'iptables-restore -w -T nat --noflush --counters',
  );
});

test('KERNEL-9 an old restore is asked for its version with an empty input', async () => {
  const programs = new FakePrograms({
    iptables: 'echo iptables v1.4.21',
    'iptables-restore': 'cat > "$' + '{0%/*}/input"',
  });
  try {
    await Iptables.open('ip', { env: programs.env() });
    assert.equal(readFileSync(`${programs.folder}/input`, 'utf8'), '');
  } finally {
    programs.close();
  }
});

test('KERNEL-9 the error of a failed restore has the number and the text of the line', async () => {
  const restore = 'cat > /dev/null; echo "iptables-restore: line 3 failed" >&2; exit 1';
  await withFakes({ restore }, async iptables => {
    const lines = ['*nat\n', ':FOO - [0:0]\n', '-A FOO -m comment --comment "a b" -j BAR\n', 'COMMIT\n'];
    const error: unknown = await iptables.restore(lines.values()).catch(thrown => thrown);
    assert.ok(error instanceof IptablesError);
    assert.equal(error.object, 'line 3: -A FOO -m comment --comment "a b" -j BAR');
    assert.deepEqual(
      error.lines.map(({ number }) => number),
      [3],
    );
    assert.equal(
      error.message,
      'iptables-restore -w 5 --noflush --counters: exit status 1: iptables-restore: line 3 failed' +
        ' (line 3: -A FOO -m comment --comment "a b" -j BAR)',
    );
  });
});

test('KERNEL-9 an error leaves out advice for the user of a shell', async () => {
  const restore = `cat >&2 <<'END'
# Warning: iptables-legacy tables present, use iptables-legacy to see them
iptables-restore v1.8.9 (legacy): unknown option "--bogus"
Error occurred at line: 1
Try \`iptables-restore -h' or 'iptables-restore --help' for more information.
END
exit 2`;
  await withFakes({ restore }, iptables =>
    assert.rejects(iptables.restore('-A FOO --bogus\n'), {
      reason: 'exit status 2',
      kernelMessage: 'iptables-restore v1.8.9 (legacy): unknown option "--bogus" | Error occurred at line: 1',
    }),
  );
});

test('KERNEL-4 onRun receives each command line and the restored input', async () => {
  const runs: (Omit<IptablesRun, 'input'> & { input: string | undefined })[] = [];
  const onRun = (run: IptablesRun) => runs.push({ ...run, input: run.input?.() });
  const work = async (iptables: Iptables) => {
    runs.length = 0;
    assert.equal(iptables.restoreCommand(), 'iptables-restore -w 5 --noflush --counters');
    await iptables.ensureRule('append', 'nat', 'FOO', ['-m', 'comment', '--comment', "it's", '-j', 'BAR']);
    await iptables.restore('*nat\nCOMMIT\n').catch(() => undefined);
  };
  await withFakes({ iptables: absentRule, restore: 'exit 3' }, work, { onRun });
  assert.deepEqual(
    runs.map(({ command, input }) => [command, input]),
    [
      ["iptables -w 5 -C FOO -t nat -m comment --comment 'it'\\''s' -j BAR", undefined],
      ["iptables -w 5 -A FOO -t nat -m comment --comment 'it'\\''s' -j BAR", undefined],
      ['iptables-restore -w 5 --noflush --counters', '*nat\nCOMMIT\n'],
    ],
  );
  assert.deepEqual(
    runs.map(({ outcome }) => (outcome instanceof IptablesError ? outcome.kind : outcome)),
    [1, 0, 'version'],
  );
});

test('KERNEL-9 only one program runs at a time', async () => {
  const iptables = 'mkdir "$' + '{LOG}.busy" || exit 3; sleep 0.02; rmdir "$' + '{LOG}.busy"';
  await withFakes({ iptables }, async it => {
    await Promise.all(['A', 'B', 'C', 'D'].map(chain => it.ensureChain('nat', chain)));
  });
});

test('KERNEL-9 saveInto passes the output on in pieces', async () => {
  let size = 0;
  const calls = await withFakes({ save: 'head -c 200000 /dev/zero' }, iptables =>
    iptables.saveInto(chunk => {
      size += chunk.length;
    }, 'nat'),
  );
  assert.equal(size, 200_000);
  assert.deepEqual(calls, ['iptables-save -t nat']);
});

test('READ-4 a listing of chains with a program that hangs ends with an error after its time', async () => {
  await withFakes({ save: 'exec sleep 60' }, async iptables => {
    const listing = iptables.listChains([{ table: 'nat', chain: 'KUBE-SERVICES' }], () => true, 50);
    await assert.rejects(listing, error => error instanceof IptablesError);
  });
});
