import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import type { ConntrackConfiguration } from '../config/index.ts';
import { NetworkNamespace } from '../kernel/netns.ts';
import { readSysctl } from '../kernel/sysctl.ts';
import { HOUR, MILLISECOND, SECOND } from '../lib/duration.ts';
import { applyConntrack } from './conntrack.ts';

const NOTHING: ConntrackConfiguration = {
  maxPerCore: 0,
  min: 0,
  tcpEstablishedTimeout: 0n,
  tcpCloseWaitTimeout: 0n,
  tcpBeLiberal: false,
  udpTimeout: 0n,
  udpStreamTimeout: 0n,
};

function inNamespace(check: (namespace: NetworkNamespace) => void): void {
  const namespace = NetworkNamespace.create();
  try {
    check(namespace);
  } finally {
    namespace.close();
  }
}

test('START-4 timeouts that differ are set and logged, and zero changes nothing', () =>
  inNamespace(namespace => {
    const { log, lines } = rememberingLog();
    const name = (end: string) => `net/netfilter/nf_conntrack_${end}`;
    const before = readSysctl(name('udp_timeout'), namespace);
    const configuration = {
      ...NOTHING,
      tcpEstablishedTimeout: 2n * HOUR,
      tcpBeLiberal: true,
      udpStreamTimeout: 99n * SECOND,
    };
    applyConntrack(configuration, log, namespace);
    const read = ['tcp_timeout_established', 'tcp_be_liberal', 'udp_timeout_stream', 'udp_timeout'];
    assert.deepEqual(
      read.map(end => readSysctl(name(end), namespace)),
      ['7200', '1', '99', before],
    );
    assert.equal(lines.length, 3, lines.join('\n'));
    applyConntrack(configuration, log, namespace);
    assert.equal(lines.length, 3, 'the second call has nothing to do');
  }));

test('START-4 a value that cannot be set is logged with advice, and the others are set', () =>
  inNamespace(namespace => {
    const { log, lines } = rememberingLog();
    // The size of the table belongs to the whole machine. A network namespace may not set it.
    applyConntrack({ ...NOTHING, maxPerCore: 1, udpTimeout: 77n * SECOND }, log, namespace);
    assert.equal(readSysctl('net/netfilter/nf_conntrack_udp_timeout', namespace), '77');
    assert.match(
      lines[0] ?? '',
      /^E A conntrack setting could not be set; the kernel keeps its value .*nf_conntrack_max.*set it on the machine/,
    );
    assert.equal(lines.length, 2, lines.join('\n'));
  }));

test('START-4 a timeout of less than a second is ignored and logged', () =>
  inNamespace(namespace => {
    const { log, lines } = rememberingLog();
    const name = 'net/netfilter/nf_conntrack_udp_timeout';
    const before = readSysctl(name, namespace);
    applyConntrack({ ...NOTHING, udpTimeout: 500n * MILLISECOND }, log, namespace);
    assert.equal(readSysctl(name, namespace), before);
    assert.deepEqual(lines, [
      'W A timeout of less than a second is ignored; the kernel keeps its value {"field":"conntrack.udpTimeout","value":"500ms"}',
    ]);
  }));
