import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { testControlGroup } from '../../../test/support/bpf-lab.ts';
import { EbpfLab } from '../../../test/support/ebpf-mode.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { TestSocket } from '../../../test/support/test-socket.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { BpfMap, PinFolder } from '../../kernel/bpf/index.ts';
import { KernelError } from '../../kernel/errors.ts';
import { errorText } from '../../lib/error-text.ts';
import type { Ip } from '../../net/index.ts';
import { cleanupEbpf, hasEbpfLeftovers } from './cleanup.ts';
import { mapSpec } from './programs/index.ts';

const WEB = service('web', { clusterIP: '10.96.0.10', sessionAffinity: 'ClientIP' });

async function start(lab: EbpfLab): Promise<void> {
  lab.harness.set(WEB, slice('web-1', ['10.244.1.2']));
  await lab.harness.sync();
}

test('EBPF-12 a cleanup leaves nothing, and connections go on', () =>
  EbpfLab.with(async lab => {
    const { bpffs } = lab;
    assert.equal(hasEbpfLeftovers(bpffs), false);
    await start(lab);
    const open = new TestSocket(lab.network.namespace, 'IPv4');
    assert.equal(open.connect('10.96.0.10' as Ip, 80), 'connected');
    await lab.harness.close();
    assert.equal(hasEbpfLeftovers(bpffs), true);
    const { removed, errors } = await cleanupEbpf({ bpffs, cgroupRoot: testControlGroup() });
    assert.deepEqual([removed, errors], [[`pins in ${lab.folder}`], []]);
    assert.equal(existsSync(`${bpffs}/pointsman`), false);
    assert.equal(hasEbpfLeftovers(bpffs), false);
    assert.equal(lab.ask('10.96.0.10'), 'ENETUNREACH');
    assert.equal(lab.network.takenBy(), '10.244.1.2:8080');
    open.close();
    const again = await cleanupEbpf({ bpffs, cgroupRoot: testControlGroup() });
    assert.deepEqual([again.removed, again.errors], [[], []]);
  }));

test('EBPF-12 a cleanup leaves other control groups alone until they are gone', () =>
  EbpfLab.with(async lab => {
    const { bpffs } = lab;
    const other = `${testControlGroup()}/other-${process.pid}`;
    mkdirSync(other);
    const neighbour = new EbpfLab(bpffs, { cgroupRoot: other });
    try {
      await start(lab);
      await start(neighbour);
      await lab.harness.close();
      await neighbour.harness.close();
      assert.equal(readdirSync(`${bpffs}/pointsman`).length, 2);
      const { errors } = await cleanupEbpf({ bpffs, cgroupRoot: testControlGroup() });
      assert.equal(existsSync(lab.folder), false);
      assert.equal(readdirSync(`${bpffs}/pointsman`).length, 1);
      const inode = statSync(other).ino;
      const texts = errors.map(errorText);
      assert.deepEqual(texts, [
        `pins in ${bpffs}/pointsman/cgroup-${inode}: programs serve another control group with them: ` +
          `if no proxy uses that group, run kube-proxy cleanup --cgroup-root "$(find /sys/fs/cgroup -inum ${inode} -type d)"`,
      ]);
    } finally {
      rmdirSync(other);
      neighbour.network.close();
    }
    // The kernel detaches the links of a control group some time after it is removed.
    await waitFor('the pins of the removed control group are removed', async () => {
      await cleanupEbpf({ bpffs, cgroupRoot: testControlGroup() });
      return !existsSync(`${bpffs}/pointsman`);
    });
  }));

test('EBPF-12 a cleanup removes maps without links, and no links that it may not open', context =>
  EbpfLab.with(async lab => {
    const { bpffs } = lab;
    await start(lab);
    await lab.harness.close();
    const maps = new PinFolder(`${bpffs}/pointsman/cgroup-1`);
    const peers = BpfMap.create(mapSpec('peers', 0));
    maps.pin('peers', peers.fd);
    peers.close();
    // The pins of the lab are those of another control group here.
    const cgroupRoot = `${testControlGroup()}/empty-${process.pid}`;
    mkdirSync(cgroupRoot);
    try {
      const { mock } = context.mock.method(PinFolder.prototype, 'open', () => {
        throw new KernelError('KERNEL_REFUSED', { operation: 'bpf OBJ_GET', errno: 'EPERM' });
      });
      const { removed, errors } = await cleanupEbpf({ bpffs, cgroupRoot });
      mock.restore();
      assert.deepEqual([removed, errors.length], [[`pins in ${maps.path}`], 1]);
      assert.equal(lab.ask('10.96.0.10'), '10.244.1.2');
    } finally {
      rmdirSync(cgroupRoot);
    }
    await cleanupEbpf({ bpffs, cgroupRoot: testControlGroup() });
  }));
