import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { NetworkNamespace } from './netns.ts';
import { ensureSysctl, readSysctl, writeSysctl } from './sysctl.ts';

function withNamespace(work: (namespace: NetworkNamespace) => void) {
  return () => {
    const namespace = NetworkNamespace.create();
    try {
      work(namespace);
    } finally {
      namespace.close();
    }
  };
}

test(
  'KERNEL-11 each network namespace has its own value of a setting',
  withNamespace(namespace => {
    const other = NetworkNamespace.create();
    try {
      writeSysctl('net/ipv4/ip_forward', 1, namespace);
      writeSysctl('net/ipv4/ip_forward', 0, other);
      const here = readSysctl('net/ipv4/ip_forward');
      assert.equal(readSysctl('net/ipv4/ip_forward', namespace), '1');
      assert.equal(readSysctl('net/ipv4/ip_forward', other), '0');
      assert.equal(readSysctl('net/ipv4/ip_forward'), here);
      const { stdout } = namespace.run(() => spawnSync('cat', ['/proc/sys/net/ipv4/ip_forward'], { encoding: 'utf8' }));
      assert.equal(stdout, '1\n');
    } finally {
      other.close();
    }
  }),
);

test(
  'KERNEL-11 ensureSysctl writes only if the value differs',
  withNamespace(namespace => {
    assert.equal(ensureSysctl('net/ipv4/conf/all/arp_ignore', 1, namespace), 'changed');
    assert.equal(ensureSysctl('net/ipv4/conf/all/arp_ignore', 1, namespace), 'unchanged');
    assert.equal(ensureSysctl('net/ipv4/conf/all/arp_ignore', '2', namespace), 'changed');
    assert.equal(readSysctl('net/ipv4/conf/all/arp_ignore', namespace), '2');
    writeSysctl('net/ipv4/ip_local_port_range', '1024 2047', namespace);
    assert.equal(readSysctl('net/ipv4/ip_local_port_range', namespace), '1024\t2047');
  }),
);

test(
  "KERNEL-11 a link's name may contain dots",
  withNamespace(namespace => {
    namespace.run(() => spawnSync('ip', ['link', 'add', 'eth0.100', 'type', 'bridge']));
    assert.equal(ensureSysctl('net/ipv4/conf/eth0.100/rp_filter', 2, namespace), 'changed');
    assert.equal(readSysctl('net/ipv4/conf/eth0.100/rp_filter', namespace), '2');
  }),
);

test(
  'KERNEL-11 the error names the setting that could not be read or set, and the reason',
  withNamespace(namespace => {
    assert.throws(() => readSysctl('net/nonesuch', namespace), { code: 'KERNEL_SOCKET', errno: 'ENOENT' });
    assert.throws(() => ensureSysctl('net/nonesuch', 1, namespace), {
      name: 'KernelError',
      errno: 'ENOENT',
      message: "can't set sysctl net/nonesuch to 1: ENOENT: no such file or directory, open '/proc/sys/net/nonesuch'",
    });
    assert.throws(() => ensureSysctl('net/ipv4/conf/all/arp_ignore', 'x', namespace), {
      message: /^can't set sysctl net\/ipv4\/conf\/all\/arp_ignore to x: EINVAL: /,
    });
  }),
);

test('KERNEL-11 refuses a path that leads out of /proc/sys', () => {
  for (const name of ['../self/comm', '/net/ipv4/ip_forward', 'net//ipv4', '']) {
    assert.throws(() => readSysctl(name), RangeError);
  }
});
