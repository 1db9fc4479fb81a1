import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfiguration } from '../../config/index.ts';
import { userspace } from './index.ts';

function optionsFrom(...lines: readonly string[]) {
  const head = ['apiVersion: kubeproxy.config.k8s.io/v1alpha1', 'kind: KubeProxyConfiguration', 'mode: userspace'];
  const { configuration } = loadConfiguration([...head, ...lines, ''].join('\n'));
  return userspace.optionsFrom(configuration, { countConnections: false });
}

test('USER-4 the configuration gives the address and the ports at which proxies listen', () => {
  assert.deepEqual(optionsFrom('bindAddress: 192.168.0.2', 'portRange: 40000-40010', 'udpIdleTimeout: 2s'), {
    listenIP: '192.168.0.2',
    portRange: { first: 40000, last: 40010 },
    udpIdleTimeoutMs: 2000,
  });
});

test('USER-4 without portRange the kernel chooses the ports', () => {
  const { listenIP, portRange } = optionsFrom('bindAddress: 0.0.0.0');
  assert.deepEqual([listenIP, portRange], ['0.0.0.0', undefined]);
});
