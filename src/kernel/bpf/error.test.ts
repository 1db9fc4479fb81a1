import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bpfAdvice, bpfError } from './error.ts';

const CAPABILITIES = { NET_ADMIN: 12n, SYS_ADMIN: 21n, PERFMON: 38n, BPF: 39n } as const;

/** `/proc/self/status` of a process with these capabilities. */
function status(...names: readonly (keyof typeof CAPABILITIES)[]): () => string {
  const mask = names.reduce((sum, name) => sum | (1n << CAPABILITIES[name]), 0n);
  return () => `Name:\tnode\nCapEff:\t${mask.toString(16).padStart(16, '0')}\n`;
}

const PROFILE = 'use a seccomp profile that allows bpf() for CAP_BPF: that of a newer container runtime, or Unconfined';
const BOTH = 'run kube-proxy as root or with CAP_BPF and CAP_NET_ADMIN';

for (const [what, own, advice] of [
  ['no capability', status(), BOTH],
  ['only CAP_NET_ADMIN', status('NET_ADMIN'), BOTH],
  ['only CAP_BPF', status('BPF'), BOTH],
  ['both', status('BPF', 'NET_ADMIN'), undefined],
  ['CAP_SYS_ADMIN and CAP_NET_ADMIN', status('SYS_ADMIN', 'NET_ADMIN'), undefined],
] as const) {
  test(`BPF-10 EPERM for a process with ${what} gives ${advice === undefined ? 'no advice' : 'advice'}`, () =>
    assert.equal(bpfAdvice('PROG_LOAD', 'EPERM', { status: own }), advice));
}

test('BPF-10 the advice for an iterator names CAP_PERFMON', () => {
  const capabilities = ['CAP_BPF', 'CAP_PERFMON'] as const;
  const own = status('BPF', 'NET_ADMIN');
  assert.equal(
    bpfAdvice('PROG_LOAD', 'EPERM', { capabilities, status: own }),
    'run kube-proxy as root or with CAP_BPF and CAP_PERFMON',
  );
});

test('BPF-10 EPERM for a map of a process with all capabilities means a seccomp profile or a user namespace', () => {
  const own = status('BPF', 'NET_ADMIN');
  assert.equal(bpfAdvice('MAP_CREATE', 'EPERM', { status: () => `${own()}Seccomp:\t2\n` }), PROFILE);
  assert.equal(
    bpfAdvice('MAP_CREATE', 'EPERM', { status: () => `${own()}Seccomp:\t0\n` }),
    'run kube-proxy outside of user namespaces, and let the security modules of the machine allow bpf()',
  );
});

test('BPF-10 ENOSYS may also be the answer of a seccomp profile', () =>
  assert.equal(
    bpfAdvice('MAP_CREATE', 'ENOSYS', { hasCallNumber: true, status: () => 'Seccomp:\t2\n' }),
    `${PROFILE}, or use a kernel that is built with CONFIG_BPF_SYSCALL`,
  ));

test('BPF-10 ENOSYS says whether the kernel or the processor is the reason', () => {
  assert.equal(
    bpfAdvice('MAP_CREATE', 'ENOSYS', { hasCallNumber: true, status: () => 'Seccomp:\t0\n' }),
    'use a kernel that is built with CONFIG_BPF_SYSCALL',
  );
  assert.equal(
    bpfAdvice('MAP_CREATE', 'ENOSYS', { hasCallNumber: false }),
    'use a machine with one of these processors: x64, arm64',
  );
});

test('BPF-10 ENOMEM names the memory limit', () =>
  assert.equal(
    bpfAdvice('MAP_CREATE', 'ENOMEM'),
    "raise the container's memory limit, because BPF maps count as its memory",
  ));

test('BPF-10 an error has the command, the object, the errno, what the kernel says and the advice', () => {
  const error = bpfError('PROG_LOAD', 'connect4', 'EACCES', { kernelMessage: 'R0 !read_ok', advice: 'do it' });
  assert.equal(error.message, 'bpf PROG_LOAD connect4: EACCES: R0 !read_ok; do it');
  assert.equal(bpfError('MAP_UPDATE_ELEM', 'frontends4', 'E2BIG').message, 'bpf MAP_UPDATE_ELEM frontends4: E2BIG');
});
