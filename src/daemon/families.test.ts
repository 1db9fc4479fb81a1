import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { node } from '../../test/support/objects.ts';
import { type Configuration, defaultConfiguration } from '../config/index.ts';
import { detectNodeIPs } from '../model/index.ts';
import { checkConfiguredFamilies, chooseFamilies } from './families.ts';

const NODE = node('node-a', { internalIPs: ['192.168.0.2'] });

function check(overrides: Partial<Configuration>, dualStack: boolean): readonly string[] {
  const { log, lines } = rememberingLog();
  const configuration = { ...defaultConfiguration(), nodePortAddresses: ['primary'], ...overrides };
  checkConfiguredFamilies(configuration, NODE, detectNodeIPs(NODE, '0.0.0.0'), dualStack, log);
  return lines;
}

function clusterCIDRs(...cidrs: string[]): Partial<Configuration> {
  return {
    detectLocalMode: 'ClusterCIDR',
    detectLocal: { ...defaultConfiguration().detectLocal, clusterCIDRs: cidrs },
  };
}

test('START-6 a configuration that fits the families logs nothing', () => {
  assert.deepEqual(check(clusterCIDRs('10.244.0.0/16'), true), []);
});

test('START-6 a doubtful configuration is logged, and the proxy starts', () => {
  const [line] = check({ nodePortAddresses: [] }, true);
  assert.match(line ?? '', /^E Kube-proxy configuration may be incomplete or incorrect .*nodePortAddresses is unset/);
  assert.match(
    check(clusterCIDRs('fd00:10:244::/48'), true)[0] ?? '',
    /IPv4-primary but clusterCIDRs contains only IPv6/,
  );
});

test('START-6 a configuration that cannot work ends the start', () => {
  assert.throws(() => check(clusterCIDRs('fd00:10:244::/48'), false), {
    message:
      /^kube-proxy configuration is incorrect: cluster is IPv4-only but clusterCIDRs contains only IPv6 addresses/,
  });
});

test('START-5 the proxy serves both families if the machine can, the primary family first', () => {
  const { log, lines } = rememberingLog();
  assert.deepEqual(chooseFamilies('IPv6', ['IPv4', 'IPv6'], log, true), {
    families: ['IPv6', 'IPv4'],
    dualStack: true,
  });
  assert.deepEqual(lines, ['I kube-proxy running in dual-stack mode {"primary ipFamily":"IPv6"}']);
});

test('START-5 on a machine with one family the proxy serves it and logs that', () => {
  const { log, lines } = rememberingLog();
  assert.deepEqual(chooseFamilies('IPv4', ['IPv4', 'IPv6'], log, false), { families: ['IPv4'], dualStack: false });
  assert.deepEqual(lines, ['I kube-proxy running in single-stack mode {"ipFamily":"IPv4"}']);
});

test('START-5 a primary family that the machine cannot serve is fatal', () => {
  const { log } = rememberingLog();
  const refused = { message: 'no support for primary IP family "IPv6"' };
  assert.throws(() => chooseFamilies('IPv6', ['IPv4', 'IPv6'], log, false), refused);
  assert.throws(() => chooseFamilies('IPv4', ['IPv6'], log, true), {
    message: 'no support for primary IP family "IPv4"',
  });
});
