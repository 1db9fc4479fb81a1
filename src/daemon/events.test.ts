import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeReference, serviceReference } from '../observe/events/index.ts';
import { eventsOf } from './events.ts';

const events = eventsOf('node-a');
const node = nodeReference('node-a');

test('EVENTS-7 MODE-8 the Event of a service port that is set aside names the Service, the node and the cause', () => {
  const service = serviceReference({ namespace: 'default', name: 'web', uid: 'u-1' });
  const port = {
    family: 'IPv6',
    namespace: 'default',
    name: 'web',
    port: 'http',
    protocol: 'TCP',
    cause: { code: 'KERNEL_REFUSED', errno: 'ENOSPC', message: 'no room' },
  } as const;
  assert.deepEqual(events.setAside(service, port), {
    type: 'Warning',
    reason: 'SetAside',
    action: 'Program',
    regarding: service,
    related: node,
    note: 'node node-a could not program default/web:http for IPv6: no room',
  });
});

test('BALANCE-3 the Event of an algorithm that the mode lacks names the Service, the node and the reason', () => {
  const service = serviceReference({ namespace: 'default', name: 'web', uid: 'u-1' });
  assert.deepEqual(events.balanceUnavailable(service, 'weighted is not available in x mode'), {
    type: 'Warning',
    reason: 'BalanceUnavailable',
    action: 'Plan',
    regarding: service,
    related: node,
    note: 'node node-a ignores the annotation pointsman.dev/balance: weighted is not available in x mode',
  });
});

test('ENDING-9 the Event of connections that did not end is a warning about the Service', () => {
  const service = serviceReference({ namespace: 'default', name: 'web', uid: 'u-1' });
  assert.deepEqual(events.connectionsNotEnded(service, 'no luck'), {
    type: 'Warning',
    reason: 'ConnectionsNotEnded',
    action: 'EndConnections',
    regarding: service,
    related: node,
    note: 'node node-a could not end the connections of endpoints that are gone: no luck',
  });
});

test('BALANCE-74 the Events of an endpoint that is left out and used again name node, service port, endpoint and cause', () => {
  const service = serviceReference({ namespace: 'default', name: 'web', uid: 'u-1' });
  const report = { family: 'IPv4', service: 'default/web', port: 'http', endpoint: '10.0.0.1:80' } as const;
  const common = { action: 'Eject', regarding: service, related: node };
  const leftOut = { cause: 'refused', failures: 3, seconds: 20 } as const;
  assert.deepEqual(events.ejectionChanged(service, { ...report, leftOut }), {
    ...common,
    type: 'Warning',
    reason: 'EndpointEjected',
    note: 'node node-a leaves out an endpoint of default/web:http for 20 s: new connections to 10.0.0.1:80 failed 3 times in a row, the last one was refused',
  });
  assert.deepEqual(events.ejectionChanged(service, { ...report, leftOut: undefined }), {
    ...common,
    type: 'Normal',
    reason: 'EndpointReturned',
    note: 'node node-a uses an endpoint of default/web:http again: 10.0.0.1:80 was left out for failed connections and is used again',
  });
});

test('EVENTS-27 the Event of a defaulted mode is a warning about the node, in the words of upstream', () => {
  assert.deepEqual(events.modeDefaulted(), {
    type: 'Warning',
    reason: 'KubeProxyDefaultMode',
    action: 'StartKubeProxy',
    regarding: node,
    note: "No kube-proxy mode specified: defaulting to 'iptables'. Note that in Kubernetes 1.40 the default mode will switch to 'nftables'. If you wish to continue using 'iptables' mode, you must explicitly specify 'mode: iptables' in the kube-proxy config file, or '--proxy-mode iptables' on the kube-proxy command line.",
  });
});

test('HEALTH-11 a server that must be there and is not is a warning about the node, with the reason that upstream gives it', () => {
  const failed = { type: 'Warning', action: 'StartKubeProxy', regarding: node, note: 'taken' };
  assert.deepEqual(events.serverFailed('healthz', 'taken'), { ...failed, reason: 'FailedToStartProxierHealthcheck' });
  assert.deepEqual(events.serverFailed('metrics', 'taken'), { ...failed, reason: 'FailedToStartMetricServer' });
});
