import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeConfiguration } from './encode.ts';
import { loadConfiguration } from './load.ts';
import { parsePortRange } from './ports.ts';

test('CONF-10 a port range is one port, first-last or first+count, or leaves the choice to the kernel', () => {
  const cases: readonly [string, ReturnType<typeof parsePortRange>][] = [
    ['', 'any'],
    ['0', 'any'],
    ['0-0', 'any'],
    ['8080', { first: 8080, last: 8080 }],
    ['100-200', { first: 100, last: 200 }],
    ['100+5', { first: 100, last: 105 }],
    ['65535', { first: 65535, last: 65535 }],
    ['65530+6', undefined],
    ['200-100', undefined],
    ['65536', undefined],
    ['a-b', undefined],
    ['1-2-3', undefined],
    ['-5', undefined],
  ];
  for (const [text, range] of cases) assert.deepEqual(parsePortRange(text), range, text);
});

test('CONF-10 portRange and udpIdleTimeout are written only in userspace mode', () => {
  const text = (mode: string) =>
    `apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: ${mode}\nportRange: 100-200\nudpIdleTimeout: 1s\n`;
  const { configuration, lenient } = loadConfiguration(text('userspace'));
  assert.equal(lenient, undefined);
  const written = encodeConfiguration(configuration);
  assert.match(written, /^portRange: 100-200$/m);
  assert.match(written, /^udpIdleTimeout: 1s$/m);
  const other = encodeConfiguration(loadConfiguration(text('iptables')).configuration);
  assert.match(other, /^portRange: ""$/m);
  assert.doesNotMatch(other, /udpIdleTimeout/);
});
