import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeReference, serviceReference } from '../observe/events/index.ts';
import { eventsOf, namesOf } from './events.ts';

const events = eventsOf('node-a');
const node = nodeReference('node-a');

test('EVENTS-7 a service port that is set aside is a warning about its Service, and names the node and why', () => {
  const service = serviceReference({ namespace: 'default', name: 'web', uid: 'u-1' });
  const port = { family: 'IPv6', servicePort: 'default/web:http', error: 'no room' } as const;
  assert.deepEqual(events.setAside(service, port), {
    type: 'Warning',
    reason: 'SetAside',
    action: 'Program',
    regarding: service,
    related: node,
    note: 'node node-a does not serve default/web:http in IPv6 as it should: no room',
  });
});

test('HEALTH-11 a server that must be there and is not is a warning about the node, with the reason that upstream gives it', () => {
  const failed = { type: 'Warning', action: 'StartKubeProxy', regarding: node, note: 'taken' };
  assert.deepEqual(events.serverFailed('healthz', 'taken'), { ...failed, reason: 'FailedToStartProxierHealthcheck' });
  assert.deepEqual(events.serverFailed('metrics', 'taken'), { ...failed, reason: 'FailedToStartMetricServer' });
});

test('EVENTS-7 the Service of a service port is found by its name, with or without that of the port', () => {
  assert.deepEqual(namesOf('kube-system/dns:dns-tcp'), { namespace: 'kube-system', name: 'dns' });
  assert.deepEqual(namesOf('default/web'), { namespace: 'default', name: 'web' });
});
