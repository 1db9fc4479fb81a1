import assert from 'node:assert/strict';
import { mkdirSync, openSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { attachAlone } from '../../../test/support/attach-alone.ts';
import { testControlGroup } from '../../../test/support/bpf-lab.ts';
import { EbpfLab } from '../../../test/support/ebpf-mode.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { assemble, BpfMap, BpfProgram, closeObject, PinFolder, returns } from '../../kernel/bpf/index.ts';
import { KernelError } from '../../kernel/errors.ts';
import { mapSpec } from './programs/index.ts';

const WEB = service('web', { clusterIP: '10.96.0.10' });
const ACTION = 'failed to translate connections at sockets; the network serves them: ';

function set(lab: EbpfLab): void {
  lab.harness.set(WEB, slice('web-1', ['10.244.1.2']));
}

function noMemory(): never {
  throw new KernelError('KERNEL_REFUSED', { operation: 'bpf MAP_UPDATE_BATCH frontends4', errno: 'ENOMEM' });
}

describe('EBPF-9 what is missing', () => {
  test('EBPF-9 without a bpffs the sockets are served while the process runs, and that is noticed once', () =>
    EbpfLab.with(
      async lab => {
        set(lab);
        await lab.harness.sync();
        assert.equal(lab.ask('10.96.0.10'), '10.244.1.2');
        assert.match(lab.harness.mode.condition().note, /are translated, until this process ends$/);
        await lab.harness.mode.lookForDrift();
        assert.equal(lab.lines.length, 1);
        assert.match(lab.lines[0] ?? '', /^notice: no bpffs is mounted at \/nowhere: /);
        await lab.harness.close();
        assert.equal(lab.ask('10.96.0.10'), 'ENETUNREACH');
      },
      { bpffs: '/nowhere' },
    ));

  test('EBPF-9 a program that stands alone on the control group is named, and a thorough look tries again', async () => {
    const group = `${testControlGroup()}/alone-${process.pid}`;
    mkdirSync(group);
    const fd = openSync(group, 'r');
    const program = BpfProgram.load(
      { name: 'alone', hook: 'connect4', file: 'alone', assembled: assemble(returns(1)) },
      () => 0,
    );
    const detach = attachAlone(program, fd);
    try {
      await EbpfLab.with(
        async lab => {
          set(lab);
          assert.deepEqual(await lab.harness.sync(), { full: true });
          const { isServing, note } = lab.harness.mode.condition();
          assert.equal(isServing, false);
          assert.match(note, /^the network serves all connections: bpf LINK_CREATE connect4: EPERM.* \(alone\)/);
          await lab.harness.mode.lookForDrift();
          assert.deepEqual(lab.lines.length, 1);
          assert.ok(lab.lines[0]?.startsWith(ACTION));
          detach();
          await lab.harness.mode.lookForDrift();
          assert.equal(lab.harness.mode.condition().isServing, true);
          assert.equal(lab.lines.length, 1);
        },
        { cgroupRoot: group },
      );
    } finally {
      program.close();
      closeObject(fd);
      rmdirSync(group);
    }
  });

  test('EBPF-9 a folder that is no control group is named', () =>
    EbpfLab.with(
      async lab => {
        set(lab);
        await lab.harness.sync();
        const { isServing, note } = lab.harness.mode.condition();
        assert.equal(isServing, false);
        assert.match(note, /^the network serves all connections: .*\/tmp/);
      },
      { cgroupRoot: '/tmp' },
    ));
});

describe('EBPF-40 writes that fail', () => {
  test('EBPF-40 a write that fails takes the links away, and the next sync tries again', async context => {
    await EbpfLab.with(async lab => {
      set(lab);
      await lab.harness.sync();
      const mock = context.mock.method(BpfMap.prototype, 'updateBatch', noMemory);
      lab.harness.set(slice('web-1', ['10.244.1.3']));
      assert.deepEqual(await lab.harness.sync({}, ['IPv4']), { full: false });
      mock.mock.restore();
      assert.equal(lab.ask('10.96.0.10'), 'ENETUNREACH');
      assert.deepEqual(
        lab.harness.events.failures.map(({ family, needsSync }) => [family, needsSync]),
        [['IPv4', true]],
      );
      assert.match(lab.harness.mode.condition().note, /ENOMEM/);
      assert.deepEqual(lab.pins(), ['peers']);
      await lab.harness.sync({}, ['IPv4']);
      assert.equal(lab.ask('10.96.0.10'), '10.244.1.3');
    });
  });

  test('EBPF-40 if the first maps cannot be made, the programs of the former process end', async context => {
    await EbpfLab.with(async lab => {
      set(lab);
      await lab.harness.sync();
      const mock = context.mock.method(BpfMap.prototype, 'updateBatch', noMemory);
      await lab.harness.restart();
      assert.equal(lab.ask('10.96.0.10'), 'ENETUNREACH');
      await lab.harness.sync();
      assert.equal(lab.lines.length, 1);
      mock.mock.restore();
      await lab.harness.mode.lookForDrift();
      assert.equal(lab.ask('10.96.0.10'), '10.244.1.2');
    });
  });
});

describe('EBPF-36 pins', () => {
  test('EBPF-36 the pins are in a folder of the control group that only root may enter', () =>
    EbpfLab.with(async lab => {
      set(lab);
      await lab.harness.sync();
      assert.deepEqual(lab.pins(), [
        'link-connect4',
        'link-connect6',
        'link-getpeername4',
        'link-getpeername6',
        'peers',
      ]);
      assert.equal(statSync(lab.folder).mode & 0o777, 0o700);
      assert.equal(statSync(`${lab.bpffs}/pointsman`).mode & 0o777, 0o700);
    }));

  test('EBPF-36 pins that a process left half made, or that are something else, are replaced', () =>
    EbpfLab.with(async lab => {
      const folder = new PinFolder(lab.folder);
      const other = BpfMap.create({ name: 'other', type: 'hash', keyBytes: 4, valueBytes: 4, entries: 1 });
      const pin = (name: string) => folder.pin(name, other.fd);
      for (const name of ['peers', 'link-connect4', 'link-release']) pin(name);
      other.close();
      set(lab);
      await lab.harness.sync();
      assert.equal(lab.ask('10.96.0.10'), '10.244.1.2');
      assert.equal(lab.pins().length, 5);
      assert.deepEqual(lab.lines, [
        'notice: the pinned map peers has another shape, so it is replaced: sockets that are connected forget their Service',
      ]);
    }));

  test('EBPF-36 a former process may have left maps only, or some of the links', () =>
    EbpfLab.with(async lab => {
      const peers = BpfMap.create(mapSpec('peers', 0));
      new PinFolder(lab.folder).pin('peers', peers.fd);
      peers.close();
      set(lab);
      await lab.harness.sync();
      await lab.harness.close();
      new PinFolder(lab.folder).unpin('link-connect6');
      await lab.harness.restart();
      assert.equal(lab.ask('10.96.0.10'), '10.244.1.2');
      assert.equal(lab.pins().length, 5);
      assert.deepEqual(lab.lines, []);
    }));
});

test('EBPF-9 after the control group is gone, the mode serves the one that takes its place', async () => {
  const group = `${testControlGroup()}/gone-${process.pid}`;
  const home = testControlGroup();
  mkdirSync(group);
  try {
    await EbpfLab.with(
      async lab => {
        set(lab);
        await lab.harness.sync();
        rmdirSync(group);
        mkdirSync(group);
        writeFileSync(`${group}/cgroup.procs`, `${process.pid}`);
        try {
          // The kernel detaches the links of a control group some time after it is removed.
          await waitFor(
            'the new control group is served',
            async () => {
              await lab.harness.mode.lookForDrift();
              return lab.ask('10.96.0.10') === '10.244.1.2';
            },
            { timeoutMs: 3000, details: () => JSON.stringify([lab.lines, lab.harness.mode.condition()]) },
          );
        } finally {
          writeFileSync(`${home}/cgroup.procs`, `${process.pid}`);
        }
      },
      { cgroupRoot: group },
    );
  } finally {
    rmdirSync(group);
  }
});
