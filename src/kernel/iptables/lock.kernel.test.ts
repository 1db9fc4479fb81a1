import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { FakePrograms } from '../../../test/support/fake-programs.ts';
import { NetworkNamespace } from '../netns.ts';
import { Iptables } from './iptables.ts';
import { IptablesError } from './iptables-error.ts';
import { findLockHolder } from './lock-holder.ts';
import type { IptablesRun } from './runner.ts';
import { XTABLES_LOCK_FILE, XtablesLock } from './xtables-lock.ts';

/** How long a holder keeps the lock that nobody releases. */
const HOLD_MS = 20_000;

/** Starts a process named sleep that holds the lock until `release`. */
async function hold(file: string): Promise<{ readonly pid: number; release(): Promise<void> }> {
  const child = spawn('flock', ['--no-fork', file, 'sleep', String(HOLD_MS / 1000)], { stdio: 'ignore' });
  await once(child, 'spawn');
  const { pid } = child;
  assert.ok(pid !== undefined);
  while (findLockHolder(file)?.command !== 'sleep') await delay(2);
  const release = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return { pid, release };
}

async function withLockFile(work: (file: string, namespace: NetworkNamespace) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'xtables-'));
  const namespace = NetworkNamespace.create();
  try {
    await work(join(folder, 'lock'), namespace);
  } finally {
    namespace.close();
    rmSync(folder, { recursive: true });
  }
}

const empty = '*nat\nCOMMIT\n';

test('KERNEL-11 the error of a legacy program without the lock has the holder and the time it waited', () =>
  withLockFile(async (lockFile, namespace) => {
    const iptables = await Iptables.open('ip', { program: 'iptables-legacy', namespace, lockFile, waitSeconds: 1 });
    const holder = await hold(lockFile);
    try {
      const error: unknown = await iptables.restore(empty).catch(thrown => thrown);
      assert.ok(error instanceof IptablesError);
      assert.equal(error.kind, 'lock');
      assert.deepEqual(error.lockWait?.holder, { pid: holder.pid, command: 'sleep' });
      // On a busy machine the wait may last longer than the second that it should, but it ends before the holder does.
      assert.ok(error.lockWait.waitedMs >= 950 && error.lockWait.waitedMs < HOLD_MS / 2, `${error.lockWait.waitedMs}`);
      assert.match(
        error.message,
        new RegExp(`waited \\d[.\\d]* s for the xtables lock, held by sleep \\(pid ${holder.pid}\\)$`),
      );
    } finally {
      await holder.release();
    }
  }));

test('KERNEL-11 onRun reports the wait of a legacy program that got the lock later', () =>
  withLockFile(async (lockFile, namespace) => {
    const runs: IptablesRun[] = [];
    const onRun = (run: IptablesRun) => runs.push(run);
    const iptables = await Iptables.open('ip6', { program: 'ip6tables-legacy', namespace, lockFile, onRun });
    const holder = await hold(lockFile);
    const created = iptables.ensureChain('nat', 'FOO');
    await delay(200);
    await holder.release();
    assert.equal(await created, true);
    const { lockWait } = runs.at(-1) ?? {};
    assert.deepEqual(lockWait?.holder, { pid: holder.pid, command: 'sleep' });
    assert.ok(lockWait.waitedMs >= 50 && lockWait.waitedMs < HOLD_MS / 2, `${lockWait.waitedMs}`);
    await iptables.ensureChain('nat', 'FOO');
    assert.equal(runs.at(-1)?.lockWait, undefined);
  }));

test('KERNEL-11 by default legacy programs wait for the lock file of the machine', async () => {
  const namespace = NetworkNamespace.create();
  const runs: IptablesRun[] = [];
  const onRun = (run: IptablesRun) => runs.push(run);
  try {
    const iptables = await Iptables.open('ip', { program: 'iptables-legacy', namespace, onRun });
    closeSync(openSync(XTABLES_LOCK_FILE, 'a', 0o600));
    const holder = await hold(XTABLES_LOCK_FILE);
    const created = iptables.ensureChain('nat', 'FOO');
    await delay(120);
    await holder.release();
    assert.equal(await created, true);
    assert.equal(runs.at(-1)?.lockWait?.holder?.pid, holder.pid);
  } finally {
    namespace.close();
  }
});

test('KERNEL-11 a program that holds the lock itself has not waited', () =>
  withLockFile(async (lockFile, namespace) => {
    const runs: IptablesRun[] = [];
    const programs = new FakePrograms({
      iptables: `case "$*" in *--version*) echo 'iptables v1.8.9 (legacy)';; *) exec flock -F ${lockFile} sleep 0.15;; esac`,
    });
    try {
      const onRun = (run: IptablesRun) => runs.push(run);
      const iptables = await Iptables.open('ip', { namespace, lockFile, env: programs.env(), onRun });
      await iptables.ensureChain('nat', 'FOO');
      assert.equal(runs.at(-1)?.command, 'iptables -w 5 -N FOO -t nat');
      assert.equal(runs.at(-1)?.lockWait, undefined);
    } finally {
      programs.close();
    }
  }));

test('KERNEL-11 the error names the holder, even if the lock is free when the program fails', () =>
  withLockFile(async (lockFile, namespace) => {
    const programs = new FakePrograms({
      iptables: `case "$*" in *--version*) echo 'iptables v1.8.9 (legacy)';; *) sleep 2
echo 'Another app is currently holding the xtables lock.' >&2; exit 4;; esac`,
    });
    const holder = await hold(lockFile);
    try {
      const iptables = await Iptables.open('ip', { namespace, lockFile, env: programs.env() });
      const answer = iptables.availabilityError();
      // Long enough that the process looks for the holder, also on a busy machine.
      await delay(1000);
      await holder.release();
      assert.deepEqual((await answer)?.lockWait?.holder, { pid: holder.pid, command: 'sleep' });
    } finally {
      programs.close();
    }
  }));

test('KERNEL-11 the nf_tables programs need no lock', () =>
  withLockFile(async (lockFile, namespace) => {
    const iptables = await Iptables.open('ip', { program: 'iptables-nft', namespace, lockFile, waitSeconds: 1 });
    const holder = await hold(lockFile);
    try {
      await iptables.restore(empty);
    } finally {
      await holder.release();
    }
  }));

test('KERNEL-11 the holder is the shell that locked its descriptor with `flock`', () =>
  withLockFile(async lockFile => {
    const shell = spawn('/bin/sh', ['-c', `exec 9>${lockFile}; flock 9; echo locked; read line`]);
    try {
      await once(shell.stdout, 'data');
      assert.deepEqual(findLockHolder(lockFile), { pid: shell.pid, command: 'sh' });
    } finally {
      shell.stdin.end('\n');
      await once(shell, 'exit');
    }
    assert.equal(findLockHolder(lockFile), undefined);
  }));

test('KERNEL-11 legacy programs wait until our own lock is released', () =>
  withLockFile(async (file, namespace) => {
    const iptables = await Iptables.open('ip', { program: 'iptables-legacy', namespace, lockFile: file });
    const lock = await XtablesLock.take({ file, namespace });
    let done = false;
    const created = iptables.ensureChain('nat', 'FOO').finally(() => {
      done = true;
    });
    await delay(60);
    assert.equal(done, false);
    lock.release();
    assert.equal(await created, true);
  }));

test('KERNEL-11 our own lock also takes the socket name of old versions, in the namespace', () =>
  withLockFile(async (file, namespace) => {
    const names = () =>
      namespace
        .run(() => readFileSync('/proc/thread-self/net/unix', 'utf8'))
        .split('\n')
        .map(line => line.split(' ').at(-1))
        .filter(name => name?.startsWith('@'));
    const lock = await XtablesLock.take({ file, namespace });
    assert.deepEqual(names(), ['@xtables']);
    const second: unknown = await XtablesLock.take({ file: `${file}2`, namespace, timeoutMs: 30 }).catch(
      thrown => thrown,
    );
    assert.ok(second instanceof IptablesError);
    assert.equal(second.kind, 'lock');
    assert.equal(second.operation, 'bind @xtables');
    lock.release();
    assert.deepEqual(names(), []);
    (await XtablesLock.take({ file: `${file}2`, namespace, timeoutMs: 30 })).release();
  }));

test('KERNEL-11 taking our own lock fails while another process holds it, and the error names the holder', () =>
  withLockFile(async (file, namespace) => {
    const holder = await hold(file);
    try {
      const error: unknown = await XtablesLock.take({ file, namespace, timeoutMs: 30 }).catch(thrown => thrown);
      assert.ok(error instanceof IptablesError);
      assert.equal(error.kind, 'lock');
      assert.equal(error.operation, `lock ${file}`);
      assert.deepEqual(error.lockWait?.holder, { pid: holder.pid, command: 'sleep' });
      assert.ok(error.lockWait.waitedMs >= 30);
    } finally {
      await holder.release();
    }
    (await XtablesLock.take({ file, namespace, timeoutMs: 30 })).release();
  }));

test('KERNEL-11 a lock file that cannot be created is an error', () =>
  withLockFile(async (file, namespace) => {
    const wanted = {
      code: 'KERNEL_PROGRAM',
      kind: 'resource',
      errno: 'ENOENT',
      operation: `open ${file}/in/nowhere`,
    };
    await assert.rejects(XtablesLock.take({ file: `${file}/in/nowhere`, namespace }), wanted);
  }));

test('KERNEL-11 a restore that is too old to lock runs while we hold the lock', () =>
  withLockFile(async (lockFile, namespace) => {
    const programs = new FakePrograms({
      iptables: 'echo "iptables v1.4.21"',
      'iptables-restore': `case "$*" in *--version*) exit 1;; esac; echo "$*" > ${lockFile}.called
flock -n ${lockFile} true && exit 3; exit 0`,
    });
    try {
      const iptables = await Iptables.open('ip', { namespace, lockFile, env: programs.env() });
      await iptables.restore(empty, { table: 'nat' });
      assert.equal(readFileSync(`${lockFile}.called`, 'utf8'), '-T nat --noflush --counters\n');
      assert.ok(existsSync(lockFile));
      assert.equal(findLockHolder(lockFile), undefined);
    } finally {
      programs.close();
    }
  }));
