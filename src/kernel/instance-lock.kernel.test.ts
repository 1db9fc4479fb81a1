import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { HeldProcess } from '../../test/support/held-process.ts';
import { holdSockets } from '../../test/support/socket-holder.ts';
import { findHolderProcess, InstanceLock } from './instance-lock.ts';
import { NetworkNamespace } from './netns.ts';
import { listAbstractSockets } from './unix-sockets.ts';

const NAME = 'lock-test';
const OTHER_USER = 12345;

describe('the instance lock', () => {
  let namespace: NetworkNamespace;
  const open: { close(): void | Promise<void> }[] = [];

  beforeEach(() => {
    namespace = NetworkNamespace.create();
  });

  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
    namespace.close();
  });

  async function hold(names: readonly string[], uid?: number): Promise<HeldProcess> {
    const holder = await holdSockets(namespace, names, uid);
    open.push(holder);
    return holder;
  }

  function take(): InstanceLock {
    const { lock } = InstanceLock.take(NAME, namespace);
    assert.ok(lock);
    open.push({ close: () => lock.release() });
    return lock;
  }

  test('KERNEL-10 each network namespace has at most one holder, and a released lock can be taken again', () => {
    const other = NetworkNamespace.create();
    try {
      const { lock: first } = InstanceLock.take(NAME, namespace);
      assert.ok(first);
      assert.equal(InstanceLock.take(NAME, namespace).holder?.inode, first.inode);
      const elsewhere = InstanceLock.take(NAME, other).lock;
      assert.ok(elsewhere);
      elsewhere.release();
      first.release();
      take();
    } finally {
      other.close();
    }
  });

  test('KERNEL-10 another user that has the name does not hold the lock, and the lock still excludes', async () => {
    const foreign = await hold([NAME, `${NAME}/1`], OTHER_USER);
    const lock = take();
    assert.equal(InstanceLock.take(NAME, namespace).holder?.inode, lock.inode);
    await foreign.close();
    open.shift();
    // Now the first name is free, but the holder has the second one.
    assert.equal(InstanceLock.take(NAME, namespace).holder?.inode, lock.inode);
  });

  test('KERNEL-10 a process of root holds the lock with either name, and is known by its process', async () => {
    for (const name of [NAME, `${NAME}/1`]) {
      const root = await hold([name], 0);
      const { holder } = InstanceLock.take(NAME, namespace);
      assert.ok(holder);
      assert.deepEqual(findHolderProcess(holder), { pid: root.pid, command: 'perl' });
      await root.close();
      open.pop();
    }
    take();
    assert.equal(findHolderProcess({ inode: undefined }), undefined);
  });

  test('KERNEL-10 a name that only begins with the same letters is no lock', async () => {
    await hold([`${NAME}-2`], 0);
    take();
  });

  test('KERNEL-10 on a kernel that lists no sockets, every process that has the name holds the lock', async () => {
    const foreign = await hold([NAME], OTHER_USER);
    const attempt = () => InstanceLock.take(NAME, namespace, () => undefined);
    assert.deepEqual(attempt(), { holder: { inode: undefined } });
    await foreign.close();
    open.shift();
    const { lock } = attempt();
    assert.ok(lock);
    lock.release();
  });

  test('KERNEL-10 a list that does not show the process that has the name is not trusted', async () => {
    await hold([NAME], 0);
    assert.deepEqual(
      InstanceLock.take(NAME, namespace, () => []),
      { holder: { inode: undefined } },
    );
    assert.equal(listAbstractSockets(namespace)?.length, 1, 'the second name stayed bound');
  });

  test('KERNEL-11 abstract sockets are listed with their name, inode and user, as ss lists them', async () => {
    await hold(['mine'], 0);
    await hold(['theirs'], OTHER_USER);
    const sockets = listAbstractSockets(namespace)?.toSorted((a, b) => a.name.localeCompare(b.name));
    assert.deepEqual(
      sockets?.map(({ name, uid }) => [name, uid]),
      [
        ['mine', 0],
        ['theirs', OTHER_USER],
      ],
    );
    const { stdout } = namespace.run(() => spawnSync('ss', ['-xaH'], { encoding: 'utf8' }));
    for (const { name, inode } of sockets ?? []) assert.match(stdout, new RegExp(`@${name} ${inode} `));
  });
});
