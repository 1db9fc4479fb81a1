import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { testControlGroup } from '../../../test/support/bpf-lab.ts';
import { withNamespace } from '../../../test/support/namespaces.ts';
import { withCapabilities } from '../../../test/support/with-capabilities.ts';
import { KernelError } from '../../kernel/errors.ts';
import { type ProbedKernel, type SocketSupportOptions, socketSupport } from './support.ts';

/** A kernel that accepts everything, and counts what is open. */
class FakeKernel implements ProbedKernel {
  readonly version: string;
  readonly #refused: Readonly<Record<string, KernelError>>;
  open = 0;

  constructor(version: string, refused: Readonly<Record<string, KernelError>> = {}) {
    this.version = version;
    this.#refused = refused;
  }

  createMap: ProbedKernel['createMap'] = ({ name }) => ({ fd: 100, ...this.#make(name) });

  loadProgram: ProbedKernel['loadProgram'] = ({ name, assembled }) => {
    const call = assembled.listing.find(line => line.includes('bpf_set_retval')) && 'bpf_set_retval';
    return this.#make(call !== undefined && call in this.#refused ? call : name);
  };

  cookieOf: ProbedKernel['cookieOf'] = () => {
    this.#make('cookie').close();
    return 1n;
  };

  #make(name: string): { close(): void } {
    const error = this.#refused[name];
    if (error) throw error;
    this.open++;
    return { close: () => void this.open-- };
  }
}

function missing(options: SocketSupportOptions) {
  const support = socketSupport({ cgroupRoot: testControlGroup(), ...options });
  return 'missing' in support ? support : assert.fail('nothing is missing');
}

function refusal(operation: string, errno: string, kernelMessage?: string): KernelError {
  return new KernelError('KERNEL_REFUSED', { operation, errno, kernelMessage });
}

describe('EBPF-22 what this kernel and this process can do', () => {
  test('EBPF-22 the probe makes each map, loads each program and keeps nothing', () =>
    withNamespace(namespace => {
      const cgroupRoot = testControlGroup();
      socketSupport({ cgroupRoot });
      const before = readdirSync('/proc/self/fd').length;
      assert.deepEqual(socketSupport({ cgroupRoot, namespace }), { canRefuse: true });
      assert.equal(readdirSync('/proc/self/fd').length, before);
      assert.deepEqual(
        withCapabilities(['CAP_BPF', 'CAP_NET_ADMIN'], () => socketSupport({ cgroupRoot })),
        { canRefuse: true },
      );
    }));

  test('EBPF-22 a process without a capability learns which one it needs', () => {
    for (const [capabilities, operation] of [
      [[], 'bpf MAP_CREATE frontends4'],
      [['CAP_NET_ADMIN'], 'bpf MAP_CREATE frontends4'],
      [['CAP_BPF'], 'bpf PROG_LOAD connect4'],
    ] as const) {
      testControlGroup();
      const { missing: text } = withCapabilities(capabilities, () => missing({}));
      assert.equal(text, `${operation} failed: EPERM; run kube-proxy as root or with CAP_BPF and CAP_NET_ADMIN`);
    }
  });

  test('EBPF-22 a folder that is no control group is named', () => {
    assert.deepEqual(missing({ cgroupRoot: '/tmp' }), {
      missing: '/tmp is no folder of a cgroup2 file system',
    });
  });

  test('EBPF-22 a kernel without bpf_set_retval serves, but cannot refuse', () => {
    const error = refusal('bpf PROG_LOAD connect4', 'EINVAL', 'unknown func bpf_set_retval#187\nprocessed 9 insns');
    const kernel = new FakeKernel('5.15.0', { bpf_set_retval: error });
    assert.deepEqual(socketSupport({ kernel, cgroupRoot: testControlGroup() }), { canRefuse: false });
    assert.equal(kernel.open, 0);
  });

  test('EBPF-22 a kernel that does not know the type of a program is named', () => {
    const kernel = new FakeKernel('6.1.0', { connect4: refusal('bpf PROG_LOAD connect4', 'EINVAL') });
    assert.equal(
      missing({ kernel }).missing,
      'bpf PROG_LOAD connect4 failed: EINVAL; use a kernel that is built with CONFIG_CGROUP_BPF, this kernel is 6.1.0',
    );
  });

  test('EBPF-22 an old kernel is named with the version that is needed', () => {
    const error = refusal('read the cookie of a network namespace', 'ENOPROTOOPT');
    assert.equal(
      missing({ kernel: new FakeKernel('5.10.0-28-amd64', { cookie: error }) }).missing,
      'read the cookie of a network namespace failed: ENOPROTOOPT; use Linux 5.14 or later, this kernel is 5.10.0-28-amd64',
    );
  });

  test('EBPF-22 a program that the verifier refuses is named with the reason', () => {
    const lines = ['9: (61) r2 = *(u32 *)(r0 +4)', "R0 invalid mem access 'map_value_or_null'", 'processed 9 insns'];
    const kernel = new FakeKernel('6.1.0', {
      getpeername6: refusal('bpf PROG_LOAD getpeername6', 'EACCES', lines.join('\n')),
    });
    assert.equal(
      missing({ kernel }).missing,
      "bpf PROG_LOAD getpeername6 failed: EACCES: R0 invalid mem access 'map_value_or_null'; report this line and the version of this kernel, 6.1.0",
    );
    assert.equal(kernel.open, 0);
  });

  test('EBPF-22 a map that the kernel does not know is named, and the maps before it are closed', () => {
    const kernel = new FakeKernel('5.4.0', { affinity4: refusal('bpf MAP_CREATE affinity4', 'EINVAL') });
    assert.match(missing({ kernel }).missing, /^bpf MAP_CREATE affinity4 failed: EINVAL; use Linux 5\.14 or later/);
    assert.equal(kernel.open, 0);
  });
});
