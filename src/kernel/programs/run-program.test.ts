import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { FakePrograms } from '../../../test/support/fake-programs.ts';
import { InputFile } from './input-file.ts';
import { ProgramError, type ProgramFailure } from './program-error.ts';
import { type ProgramOptions, runProgram } from './run-program.ts';

async function fake(script: string, options: Partial<ProgramOptions> = {}) {
  const programs = new FakePrograms({ fake: script });
  try {
    return await runProgram('fake', ['-x', 'a b'], { timeoutMs: 2000, env: programs.env(), ...options });
  } finally {
    programs.close();
  }
}

async function failure(script: string, options: Partial<ProgramOptions> = {}): Promise<ProgramError> {
  const error: unknown = await fake(script, options).catch(thrown => thrown);
  assert.ok(error instanceof ProgramError, String(error));
  assert.equal(error.code, 'KERNEL_PROGRAM');
  assert.equal(error.operation, "fake -x 'a b'");
  return error;
}

test("KERNEL-9 returns a program's output and exit status", async () => {
  assert.deepEqual(await fake('echo "$1|$2"; echo hint >&2'), { status: 0, stdout: '-x|a b\n', stderr: 'hint\n' });
  assert.equal((await fake('exit 1', { okStatuses: [0, 1] })).status, 1);
});

test('KERNEL-9 a program reads its input from the start, also through /dev/stdin', async () => {
  assert.equal((await fake('cat', { input: 'one\ntwo\n' })).stdout, 'one\ntwo\n');
  assert.equal((await fake('cat /dev/stdin', { input: ['one\n', Buffer.from('two\n')] })).stdout, 'one\ntwo\n');
  assert.equal((await fake('cat')).stdout, '');
});

test('KERNEL-9 a program that does not read its input does not fail', async () => {
  assert.equal((await fake('exit 0', { input: 'x'.repeat(1 << 20) })).status, 0);
});

test('KERNEL-9 an input file of the caller stays open', async () => {
  const input = InputFile.create('one\n');
  try {
    assert.equal((await fake('cat', { input })).stdout, 'one\n');
    assert.equal(input.text(), 'one\n');
  } finally {
    input.close();
  }
});

test('KERNEL-9 output that is passed on in pieces is not kept', async () => {
  let size = 0;
  const { stdout } = await fake('head -c 300000 /dev/zero', { onStdout: chunk => (size += chunk.length) });
  assert.equal(size, 300_000);
  assert.equal(stdout, '');
});

test('KERNEL-9 a program receives few variables: a PATH with the system folders, and LC_ALL', async () => {
  process.env.POINTSMAN_SECRET = 'x';
  try {
    const { stdout } = await runProgram('env', [], { timeoutMs: 2000, env: { EXTRA: '1' } });
    const names = stdout.split('\n').map(line => line.split('=')[0]);
    assert.deepEqual(names.sort(), ['', 'EXTRA', 'LC_ALL', 'PATH']);
    const path = /^PATH=(.*)$/m.exec(stdout)?.[1]?.split(':') ?? [];
    assert.ok(path.includes('/usr/sbin') && path.includes('/sbin'));
  } finally {
    delete process.env.POINTSMAN_SECRET;
  }
});

test('KERNEL-9 a program receives no relative folders in PATH', async () => {
  const before = process.env.PATH;
  process.env.PATH = `.:bin:${before}`;
  try {
    const { stdout } = await runProgram('env', [], { timeoutMs: 2000 });
    assert.ok(!/^PATH=(.*:)?(\.|bin)(:|$)/m.test(stdout));
  } finally {
    process.env.PATH = before;
  }
});

const failures: readonly {
  name: string;
  script: string;
  options?: Partial<ProgramOptions>;
  failure: ProgramFailure;
  reason: string;
  kernelMessage?: string;
}[] = [
  {
    name: 'the error of a failing program has its last lines',
    script: 'for i in 1 2 3 4 5 6 7 8; do echo "word $i" >&2; done; exit 3',
    failure: { kind: 'status', status: 3 },
    reason: 'exit status 3',
    kernelMessage: 'word 3 | word 4 | word 5 | word 6 | word 7 | word 8',
  },
  {
    name: 'the error of a failing program without output has its exit status',
    script: 'exit 127',
    failure: { kind: 'status', status: 127 },
    reason: 'exit status 127',
  },
  {
    name: 'the error of a program that a signal killed names the signal',
    script: 'echo bye >&2; kill -SEGV $$',
    failure: { kind: 'signal', signal: 'SIGSEGV' },
    reason: 'ended by SIGSEGV',
    kernelMessage: 'bye',
  },
  {
    name: 'a program that hangs is killed after the timeout',
    script: 'echo waiting >&2; exec sleep 30',
    options: { timeoutMs: 100 },
    failure: { kind: 'timed-out', timeoutMs: 100 },
    reason: 'not done after 0.1 s, killed',
    kernelMessage: 'waiting',
  },
  {
    name: 'a program that ignores TERM, INT and HUP is killed too',
    script: 'trap "" TERM INT HUP; echo waiting >&2; while :; do sleep 1; done',
    options: { timeoutMs: 100 },
    failure: { kind: 'timed-out', timeoutMs: 100 },
    reason: 'not done after 0.1 s, killed',
    kernelMessage: 'waiting',
  },
  {
    name: 'a program with endless output is killed at the limit',
    script: 'exec cat /dev/zero',
    options: { maxOutputBytes: 1 << 20 },
    failure: { kind: 'too-much-output', limit: 1 << 20 },
    reason: 'wrote more than 1048576 bytes, killed',
  },
  {
    name: 'an error does not contain control characters from the output of a program',
    script: 'printf "a\\033[31mb\\r\\n\\n\\tc\\n" >&2; exit 1',
    failure: { kind: 'status', status: 1 },
    reason: 'exit status 1',
    kernelMessage: 'a [31mb | c',
  },
];

for (const { name, script, options, failure: wanted, reason, kernelMessage } of failures) {
  test(`KERNEL-9 ${name}`, async () => {
    const error = await failure(script, options);
    assert.deepEqual(error.failure, wanted);
    assert.deepEqual([error.reason, error.kernelMessage], [reason, kernelMessage]);
    const cause = kernelMessage === undefined ? reason : `${reason}: ${kernelMessage}`;
    assert.equal(error.message, `fake -x 'a b': ${cause}`);
  });
}

test('KERNEL-9 only the end of a long standard error is kept', async () => {
  const error = await failure('head -c 3000000 /dev/zero | tr "\\0" x >&2; echo >&2; echo end >&2; exit 1');
  assert.equal(error.stderr.length, 64 << 10);
  assert.ok(error.stderr.endsWith('x\nend\n'));
  assert.ok(error.message.length < 1000);
});

test('KERNEL-9 the error for a missing program says that it is missing', async () => {
  const error: unknown = await runProgram('no-such-program', [], { timeoutMs: 1000 }).catch(thrown => thrown);
  assert.ok(error instanceof ProgramError);
  assert.deepEqual(error.failure, { kind: 'missing' });
  assert.equal(error.message, 'no-such-program: ENOENT: there is no such program');
});

test('KERNEL-9 a file that is not executable cannot be started', async () => {
  const error: unknown = await runProgram('/etc/passwd', [], { timeoutMs: 1000 }).catch(thrown => thrown);
  assert.ok(error instanceof ProgramError);
  assert.deepEqual(error.failure, { kind: 'not-started', errno: 'EACCES' });
});

test('KERNEL-9 a command line that is too long for the kernel is an error', async () => {
  const error: unknown = await runProgram('true', ['x'.repeat(1 << 20)], { timeoutMs: 1000 }).catch(thrown => thrown);
  assert.ok(error instanceof ProgramError);
  assert.deepEqual(error.failure, { kind: 'not-started', errno: 'E2BIG' });
});

test('KERNEL-9 the timeout also kills all processes that the program started', async () => {
  const error = await failure('sleep 30 & echo $! >&2; wait', { timeoutMs: 100 });
  const pid = Number(error.stderr.trim());
  assert.ok(pid > 0);
  for (let waited = 0; isAlive(pid); waited += 5) {
    assert.ok(waited < 1000, 'a child process outlived the timeout');
    await delay(5);
  }
});

test('KERNEL-9 a process that left the group and keeps the output open does not block the caller', async () => {
  const begun = performance.now();
  const error = await failure('setsid sleep 1 & exit 0', { timeoutMs: 100 });
  assert.equal(error.failure.kind, 'timed-out');
  assert.ok(performance.now() - begun < 800);
});

test('KERNEL-9 an exception from onStdout kills the program and reaches the caller', async () => {
  const onStdout = () => {
    throw new RangeError('not wanted');
  };
  await assert.rejects(fake('cat /dev/zero', { onStdout }), { name: 'RangeError', message: 'not wanted' });
});

/** A zombie process counts as ended. */
function isAlive(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  try {
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
