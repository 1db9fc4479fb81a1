import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice } from '../../test/support/objects.ts';
import type { EndpointSlice, Service } from '../api/index.ts';
import { Model } from '../model/index.ts';
import { endedConnectionTest, endedEndpoints, isStillEnded } from './ended-endpoints.ts';

const RESET = { 'pointsman.dev/endpoint-end': 'reset' };
const DRAIN_THEN_RESET = { 'pointsman.dev/endpoint-end': 'drain-then-reset' };

function modelWith(...objects: readonly (Service | EndpointSlice)[]): Model {
  const model = new Model({ family: 'IPv4', nodeName: '', startedAt: 0, report: () => {} });
  for (const object of objects) {
    if (object.kind === 'Service') model.setService(object);
    else model.setEndpointSlice(object);
  }
  model.take();
  return model;
}

/** The endpoints that are gone with the next take, with their seconds. */
function endedIn(model: Model): readonly string[] {
  const ended = model.take().services.flatMap(change => endedEndpoints(change));
  return ended.map(({ endpoint, afterSeconds }) => `${endpoint.text} ${afterSeconds}`);
}

test('ENDING-1 an endpoint is gone when no slice of its Service lists it', () => {
  const model = modelWith(
    service('web', { annotations: RESET }),
    slice('web-1', ['10.0.0.1', '10.0.0.2']),
    slice('web-2', ['10.0.0.2', '10.0.0.3']),
  );
  model.setEndpointSlice(slice('web-1', []));
  assert.deepEqual(endedIn(model), ['10.0.0.1:8080 0']);
  const terminating = { ip: '10.0.0.3', ready: false, serving: false, terminating: true };
  model.setEndpointSlice(slice('web-2', ['10.0.0.2', terminating]));
  assert.deepEqual(endedIn(model), [], 'a terminating endpoint is listed');
  model.deleteEndpointSlice('default/web-2');
  assert.deepEqual(endedIn(model), ['10.0.0.2:8080 0', '10.0.0.3:8080 0']);
});

test('ENDING-1 without the annotation no endpoint counts as gone, and the grace time is 30 seconds by default', () => {
  const grace = { ...DRAIN_THEN_RESET, 'pointsman.dev/endpoint-end-grace-seconds': '5' };
  for (const [annotations, ended] of [
    [{}, []],
    [{ 'pointsman.dev/endpoint-end': 'drain' }, []],
    [DRAIN_THEN_RESET, ['10.0.0.1:8080 30']],
    [grace, ['10.0.0.1:8080 5']],
  ] as const) {
    const model = modelWith(service('web', { annotations }), slice('web-1', ['10.0.0.1']));
    model.deleteEndpointSlice('default/web-1');
    assert.deepEqual(endedIn(model), ended);
  }
});

test('ENDING-1 a port that is gone loses its endpoints, a port with a new name does not', () => {
  const port = (name: string) => service('web', { annotations: RESET, ports: [{ name, port: 80 }] });
  const named = (name: string) => slice('web-1', ['10.0.0.1'], { ports: [{ name, protocol: 'TCP', port: 8080 }] });
  const model = modelWith(port('http'), named('http'));
  model.setService(port('web'));
  model.setEndpointSlice(named('web'));
  assert.deepEqual(endedIn(model), []);
  model.deleteService('default/web');
  assert.deepEqual(endedIn(model), ['10.0.0.1:8080 0']);
});

test('ENDING-1 a new name of a port ends nothing while the slices still have the old one', () => {
  const port = (name: string) => service('web', { annotations: RESET, ports: [{ name, port: 80 }] });
  const named = (name: string, ...ips: readonly string[]) =>
    slice('web-1', ips, { ports: [{ name, protocol: 'TCP', port: 8080 }] });
  const model = modelWith(port('http'), named('http', '10.0.0.1', '10.0.0.2'));
  model.setService(port('web'));
  assert.deepEqual(endedIn(model), []);
  model.setEndpointSlice(named('web', '10.0.0.1'));
  assert.deepEqual(endedIn(model), ['10.0.0.2:8080 0']);
  model.setEndpointSlice(named('http', '10.0.0.1'));
  assert.deepEqual(endedIn(model), [], 'the slices change first');
  model.setService(port('http'));
  assert.deepEqual(endedIn(model), []);
  model.setService(port('web'));
  model.setEndpointSlice(named('http'));
  assert.deepEqual(endedIn(model), ['10.0.0.1:8080 0']);
});

test('ENDING-1 UDP ports have no connections that could end', () => {
  const ports = [{ protocol: 'UDP' as const, port: 53 }];
  const udp = { ports: [{ name: '', protocol: 'UDP' as const, port: 53 }] };
  const model = modelWith(service('dns', { annotations: RESET, ports }), slice('dns-1', ['10.0.0.1'], udp));
  model.deleteEndpointSlice('default/dns-1');
  assert.deepEqual(endedIn(model), []);
});

test('ENDING-2 an endpoint that is listed again, or whose Service changed its mind, keeps its connections', () => {
  const model = modelWith(service('web', { annotations: RESET }), slice('web-1', ['10.0.0.1']));
  model.deleteEndpointSlice('default/web-1');
  const [ended] = model.take().services.flatMap(change => endedEndpoints(change));
  assert.ok(ended);
  const now = () => {
    model.take();
    return isStillEnded(ended, model.service('default/web'));
  };
  assert.equal(now(), true);
  model.setEndpointSlice(slice('web-1', ['10.0.0.1']));
  assert.equal(now(), false);
  model.deleteEndpointSlice('default/web-1');
  assert.equal(now(), true);
  model.setService(service('web'));
  assert.equal(now(), false);
  model.deleteService('default/web');
  assert.equal(now(), true);
});

test('ENDING-3 only connections through the frontends of the service port belong to it', () => {
  const web = service('web', {
    type: 'LoadBalancer',
    annotations: RESET,
    externalIPs: ['1.1.1.1'],
    ingress: [{ ip: '2.2.2.2' }],
    ports: [{ port: 80, nodePort: 30080 }],
  });
  const model = modelWith(web, slice('web-1', ['10.0.0.1']));
  model.deleteEndpointSlice('default/web-1');
  const ended = model.take().services.flatMap(change => endedEndpoints(change));
  const belongs = (allowExternalIPs: boolean, destination: string, answeredBy: string) => {
    const [at, by] = [destination, answeredBy].map(text => {
      const [ip = '', port] = text.split(':');
      return { ip, port: Number(port) };
    }) as [{ ip: string; port: number }, { ip: string; port: number }];
    const isNodeAddress = (ip: string) => ip === '192.168.0.2' || ip === '127.0.0.1';
    return (
      endedConnectionTest(ended, allowExternalIPs, isNodeAddress)({ destination: at, answeredBy: by }) !== undefined
    );
  };
  for (const frontend of ['10.96.0.1:80', '1.1.1.1:80', '2.2.2.2:80', '192.168.0.2:30080', '127.0.0.1:30080'])
    assert.ok(belongs(true, frontend, '10.0.0.1:8080'), frontend);
  assert.ok(!belongs(false, '1.1.1.1:80', '10.0.0.1:8080'), 'external IPs are not served');
  assert.ok(!belongs(true, '10.96.0.1:81', '10.0.0.1:8080'), 'another port');
  assert.ok(!belongs(true, '10.96.0.2:80', '10.0.0.1:8080'), 'another Service');
  assert.ok(
    !belongs(true, '10.96.0.2:30080', '10.0.0.1:8080'),
    'another Service at a port with the number of the node port',
  );
  assert.ok(!belongs(true, '10.96.0.1:80', '10.0.0.2:8080'), 'another endpoint');
  assert.ok(!belongs(true, '10.96.0.1:80', '10.0.0.1:8081'), 'another port of the endpoint');
  assert.ok(!belongs(true, '10.0.0.1:8080', '10.0.0.1:8080'), 'straight to the endpoint');
});
