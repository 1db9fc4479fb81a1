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

test('KERNEL-9 gives back what a program says and its exit status', async () => {
  assert.deepEqual(await fake('echo "$1|$2"; echo hint >&2'), { status: 0, stdout: '-x|a b\n', stderr: 'hint\n' });
  assert.equal((await fake('exit 1', { okStatuses: [0, 1] })).status, 1);
});

test('KERNEL-9 a program reads its input from the start, also by the name /dev/stdin', async () => {
  assert.equal((await fake('cat', { input: 'one\ntwo\n' })).stdout, 'one\ntwo\n');
  assert.equal((await fake('cat /dev/stdin', { input: ['one\n', Buffer.from('two\n')] })).stdout, 'one\ntwo\n');
  assert.equal((await fake('cat')).stdout, '');
});

test('KERNEL-9 input that the program does not read is no failure', async () => {
  assert.equal((await fake('exit 0', { input: 'x'.repeat(1 << 20) })).status, 0);
});

test('KERNEL-9 an input file that was handed in stays open', async () => {
  const input = InputFile.create('one\n');
  try {
    assert.equal((await fake('cat', { input })).stdout, 'one\n');
    assert.equal(input.text(), 'one\n');
  } finally {
    input.close();
  }
});

test('KERNEL-9 hands the output on in pieces and then keeps none', async () => {
  let size = 0;
  const { stdout } = await fake('head -c 300000 /dev/zero', { onStdout: chunk => (size += chunk.length) });
  assert.equal(size, 300_000);
  assert.equal(stdout, '');
});

test('KERNEL-9 a program gets few variables: a PATH with the system folders and untranslated messages', async () => {
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

test('KERNEL-9 relative folders of PATH are not searched', async () => {
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
  message: string;
}[] = [
  {
    name: 'a failing program is reported with its last words',
    script: 'for i in 1 2 3 4 5 6 7 8; do echo "word $i" >&2; done; exit 3',
    failure: { kind: 'status', status: 3 },
    message: 'exit status 3: word 3 | word 4 | word 5 | word 6 | word 7 | word 8',
  },
  {
    name: 'a silent failing program is reported with its status',
    script: 'exit 127',
    failure: { kind: 'status', status: 127 },
    message: 'exit status 127',
  },
  {
    name: 'a program that dies by a signal is reported with its name',
    script: 'echo bye >&2; kill -SEGV $$',
    failure: { kind: 'signal', signal: 'SIGSEGV' },
    message: 'ended by SIGSEGV: bye',
  },
  {
    name: 'a program that hangs is killed after the time-out',
    script: 'echo waiting >&2; exec sleep 30',
    options: { timeoutMs: 100 },
    failure: { kind: 'timed-out', timeoutMs: 100 },
    message: 'not done after 0.1 s, killed: waiting',
  },
  {
    name: 'a program that ignores polite signals is killed too',
    script: 'trap "" TERM INT HUP; echo waiting >&2; while :; do sleep 1; done',
    options: { timeoutMs: 100 },
    failure: { kind: 'timed-out', timeoutMs: 100 },
    message: 'not done after 0.1 s, killed: waiting',
  },
  {
    name: 'a program that writes without end is stopped at the limit',
    script: 'exec cat /dev/zero',
    options: { maxOutputBytes: 1 << 20 },
    failure: { kind: 'too-much-output', limit: 1 << 20 },
    message: 'wrote more than 1048576 bytes, killed',
  },
  {
    name: 'control characters of a program do not reach a log',
    script: 'printf "a\\033[31mb\\r\\n\\n\\tc\\n" >&2; exit 1',
    failure: { kind: 'status', status: 1 },
    message: 'exit status 1: a [31mb | c',
  },
];

for (const { name, script, options, failure: wanted, message } of failures) {
  test(name, async () => {
    const error = await failure(script, options);
    assert.deepEqual(error.failure, wanted);
    assert.equal(error.kernelMessage, message);
  });
}

test('KERNEL-9 of endless messages only the end is kept', async () => {
  const error = await failure('head -c 3000000 /dev/zero | tr "\\0" x >&2; echo >&2; echo end >&2; exit 1');
  assert.equal(error.stderr.length, 64 << 10);
  assert.ok(error.stderr.endsWith('x\nend\n'));
  assert.ok(error.message.length < 1000);
});

test('KERNEL-9 a missing program is named as missing', async () => {
  const error: unknown = await runProgram('no-such-program', [], { timeoutMs: 1000 }).catch(thrown => thrown);
  assert.ok(error instanceof ProgramError);
  assert.deepEqual(error.failure, { kind: 'missing' });
  assert.equal(error.message, 'no-such-program: ENOENT: there is no such program');
});

test('KERNEL-9 a file that is no program cannot be started', async () => {
  const error: unknown = await runProgram('/etc/passwd', [], { timeoutMs: 1000 }).catch(thrown => thrown);
  assert.ok(error instanceof ProgramError);
  assert.deepEqual(error.failure, { kind: 'not-started', errno: 'EACCES' });
});

test('KERNEL-9 a command line too long for the system is a failure, not a crash', async () => {
  const error: unknown = await runProgram('true', ['x'.repeat(1 << 20)], { timeoutMs: 1000 }).catch(thrown => thrown);
  assert.ok(error instanceof ProgramError);
  assert.deepEqual(error.failure, { kind: 'not-started', errno: 'E2BIG' });
});

test('KERNEL-9 at the time-out everything that the program started is killed', async () => {
  const error = await failure('sleep 30 & echo $! >&2; wait', { timeoutMs: 100 });
  const pid = Number(error.stderr.trim());
  assert.ok(pid > 0);
  for (let waited = 0; alive(pid); waited += 5) {
    assert.ok(waited < 1000, 'a child outlived the time-out');
    await delay(5);
  }
});

test('KERNEL-9 a helper that left the group and holds the output open does not hold the caller', async () => {
  const begun = performance.now();
  const error = await failure('setsid sleep 1 & exit 0', { timeoutMs: 100 });
  assert.equal(error.failure.kind, 'timed-out');
  assert.ok(performance.now() - begun < 800);
});

test('KERNEL-9 what the taker of the output throws ends the program and reaches the caller', async () => {
  const onStdout = () => {
    throw new RangeError('not wanted');
  };
  await assert.rejects(fake('cat /dev/zero', { onStdout }), { name: 'RangeError', message: 'not wanted' });
});

/** A zombie that nobody has waited for counts as ended. */
function alive(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  try {
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
