import assert from 'node:assert/strict';
import { mkdirSync, rmdirSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { attachAlone } from '../../../test/support/attach-alone.ts';
import { openDetachedBpffs } from '../../../test/support/detached-bpffs.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { KernelError } from '../errors.ts';
import { close } from '../libc.ts';
import { assemble } from './assemble.ts';
import { attachedPrograms, loneProgram } from './attached-programs.ts';
import { isBpffs, openPin, pin } from './bpffs.ts';
import { type ControlGroup, hierarchyFolder, nodeControlGroup, openControlGroup } from './cgroup.ts';
import { BpfLink } from './link.ts';
import { BpfMap } from './map.ts';
import { mapInfo, programInfo } from './object-info.ts';
import { BpfProgram } from './program.ts';
import { returns } from './stack.ts';

/** An empty control group, with a descriptor of it. No process ever enters it. */
interface Group extends ControlGroup {
  readonly fd: number;
}

let groups = 0;

async function withGroup(work: (group: Group) => void | Promise<void>, parent?: Group): Promise<void> {
  const path = join(
    parent?.path ?? hierarchyFolder() ?? assert.fail('there is no cgroup2'),
    `pointsman-link-${process.pid}-${groups++}`,
  );
  mkdirSync(path);
  const id = statSync(path, { bigint: true }).ino;
  const fd = openControlGroup({ path, id });
  try {
    await work({ path, fd, id });
  } finally {
    close(fd);
    rmdirSync(path);
  }
}

async function withPrograms(work: (one: BpfProgram, two: BpfProgram) => Promise<void>): Promise<void> {
  const load = (name: string) =>
    BpfProgram.load({ name, hook: 'connect4', file: 'test.ts', assembled: assemble(returns(1)) }, () => -1);
  const [one, two] = [load('one'), load('two')];
  try {
    await work(one, two);
  } finally {
    one.close();
    two.close();
  }
}

const idOf = (program: BpfProgram) => programInfo(program.fd).id;

test('BPF-11 a control group that the operator names is taken, with the id by which the kernel knows it', () =>
  withPrograms(program =>
    withGroup(({ path, fd, id }) => {
      assert.deepEqual(nodeControlGroup(path), { path, id });
      const link = BpfLink.create(program, fd);
      assert.equal(link.info().cgroup, id);
      link.close();
    }),
  ));

test('BPF-8 a link attaches a program, has another one put in place, and ends with its descriptor', () =>
  withPrograms((one, two) =>
    withGroup(({ fd, id }) => {
      const link = BpfLink.create(one, fd);
      assert.deepEqual(attachedPrograms(fd, 'connect4'), [idOf(one)]);
      const before = link.info();
      assert.deepEqual([before.program, before.cgroup], [idOf(one), id]);
      link.update(two);
      assert.deepEqual(attachedPrograms(fd, 'connect4'), [idOf(two)]);
      assert.deepEqual(link.info(), { ...before, program: idOf(two) });
      assert.deepEqual(attachedPrograms(fd, 'connect6'), []);
      link.close();
      assert.deepEqual(attachedPrograms(fd, 'connect4'), []);
    }),
  ));

test('BPF-8 a link that someone detached has the control group 0, and takes no other program', () =>
  withPrograms((one, two) =>
    withGroup(({ fd }) => {
      const link = BpfLink.create(one, fd);
      link.detach();
      assert.equal(link.info().cgroup, 0n);
      assert.deepEqual(attachedPrograms(fd, 'connect4'), []);
      assert.throws(() => link.update(two), { operation: 'bpf LINK_UPDATE connect4', errno: 'ENOLINK' });
      link.close();
    }),
  ));

test('BPF-8 a link whose control group was removed gets the control group 0', async () => {
  let link: BpfLink | undefined;
  await withPrograms(one =>
    withGroup(({ fd }) => {
      link = BpfLink.create(one, fd);
    }),
  );
  // The kernel frees the group some time later.
  await waitFor('the link has no control group', () => link?.info().cgroup === 0n);
  link?.close();
});

test('BPF-8 several links may be at one control group', () =>
  withPrograms((one, two) =>
    withGroup(({ fd }) => {
      const links = [BpfLink.create(one, fd), BpfLink.create(two, fd)];
      assert.deepEqual(attachedPrograms(fd, 'connect4'), [idOf(one), idOf(two)]);
      for (const link of links) link.close();
    }),
  ));

function refusal(work: () => BpfLink): KernelError {
  try {
    work().close();
  } catch (error) {
    assert.ok(error instanceof KernelError);
    return error;
  }
  return assert.fail('the kernel attached the program');
}

test('BPF-8 a program that stands alone on the control group, or above, is named in the error', () =>
  withPrograms((one, two) =>
    withGroup(async group => {
      assert.equal(loneProgram(group.fd, 'connect4'), undefined);
      const detach = attachAlone(one, group.fd);
      const advice = `detach program ${idOf(one)} (one) from the control group, or attach it so that it allows others (BPF_F_ALLOW_MULTI)`;
      assert.equal(refusal(() => BpfLink.create(two, group.fd)).message, `bpf LINK_CREATE connect4: EPERM; ${advice}`);
      await withGroup(below => {
        assert.deepEqual(loneProgram(below.fd, 'connect4'), { id: idOf(one), name: 'one' });
        assert.equal(
          refusal(() => BpfLink.create(two, below.fd)).message,
          `bpf LINK_CREATE connect4: EPERM; ${advice}`,
        );
      }, group);
      detach();
      const link = BpfLink.create(two, group.fd);
      assert.equal(loneProgram(group.fd, 'connect4'), undefined);
      link.close();
    }),
  ));

test('BPF-9 a pinned link outlives its descriptor, and ends with its pin', async () => {
  const bpffs = openDetachedBpffs();
  try {
    await withPrograms((one, two) =>
      withGroup(async ({ fd, id }) => {
        const path = join(bpffs.path, 'link-connect4');
        assert.equal(openPin(path), undefined);
        const link = BpfLink.create(one, fd);
        pin(link.fd, path);
        link.close();
        assert.deepEqual(attachedPrograms(fd, 'connect4'), [idOf(one)]);
        const again = BpfLink.of(openPin(path) ?? assert.fail('there is no pin'));
        again.update(two);
        assert.deepEqual([again.info().program, again.info().cgroup], [idOf(two), id]);
        assert.throws(() => pin(again.fd, path), { operation: `bpf OBJ_PIN ${path}`, errno: 'EEXIST' });
        again.close();
        assert.deepEqual(attachedPrograms(fd, 'connect4'), [idOf(two)]);
        unlinkSync(path);
        // The kernel ends the link some time later.
        await waitFor('no program is attached', () => attachedPrograms(fd, 'connect4').length === 0);
      }),
    );
  } finally {
    bpffs.close();
  }
});

test('BPF-9 a pinned map keeps its entries', () => {
  const bpffs = openDetachedBpffs();
  try {
    const spec = { name: 'peers', type: 'hash', keyBytes: 4, valueBytes: 4, entries: 4 } as const;
    const map = BpfMap.create(spec);
    map.update(Buffer.from('key1'), Buffer.from('one!'));
    pin(map.fd, join(bpffs.path, 'peers'));
    map.close();
    const again = BpfMap.of(openPin(join(bpffs.path, 'peers')) ?? assert.fail('there is no pin'), spec);
    assert.equal(mapInfo(again.fd).name, 'peers');
    assert.equal(again.lookup(Buffer.from('key1'))?.toString(), 'one!');
    again.close();
  } finally {
    bpffs.close();
  }
});

test('BPF-9 only a bpffs takes pins', () => {
  const bpffs = openDetachedBpffs();
  try {
    assert.deepEqual([isBpffs(bpffs.path), isBpffs('/tmp'), isBpffs('/nonexistent')], [true, false, false]);
  } finally {
    bpffs.close();
  }
  const map = BpfMap.create({ name: 'm', type: 'array', keyBytes: 4, valueBytes: 8, entries: 1 });
  assert.throws(() => pin(map.fd, '/tmp/pin'), { operation: 'bpf OBJ_PIN /tmp/pin', errno: 'EPERM' });
  assert.throws(() => openPin('/etc/hostname'), { operation: 'bpf OBJ_GET /etc/hostname' });
  map.close();
});
