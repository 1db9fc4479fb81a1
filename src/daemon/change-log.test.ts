import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice } from '../../test/support/objects.ts';
import { Model } from '../model/index.ts';
import { Logger } from '../observe/logging/index.ts';
import { logChanges } from './change-log.ts';

const NODE = { name: 'node-a', zone: 'zone-a' };

/** A model, and a function that returns what a sync of its changes logs at a verbosity. */
function create() {
  const model = new Model({ family: 'IPv4', nodeName: NODE.name, startedAt: 0, report: () => {} });
  const logged = (verbosity: number) => {
    const lines: string[] = [];
    const log = new Logger({
      isEnabled: level => level <= verbosity,
      write: ({ level, message, fields }) => lines.push(`${level} ${message} ${JSON.stringify(fields)}`),
    });
    logChanges(log, 'IPv4', model.take(), NODE);
    return lines;
  };
  return { model, logged };
}

const WEB = service('web', {
  ports: [
    { name: 'http', port: 80 },
    { name: 'dns', protocol: 'UDP', port: 53 },
  ],
});
const HTTP = { ports: [{ name: 'http', protocol: 'TCP', port: 8080 }] } as const;

test('LOG-22 each service port and its endpoints are logged when they change, and others are not', () => {
  const { model, logged } = create();
  model.setService(WEB);
  model.setEndpointSlice(slice('web-1', ['10.244.1.1', '10.244.1.2'], HTTP));
  assert.deepEqual(logged(4), [
    '4 Service port added {"ipFamily":"IPv4","portName":"default/web:http","servicePort":"10.96.0.1:80/TCP"}',
    '4 Service port added {"ipFamily":"IPv4","portName":"default/web:dns","servicePort":"10.96.0.1:53/UDP"}',
    '3 Endpoints of a service port added {"ipFamily":"IPv4","portName":"default/web:http","endpoints":["10.244.1.1:8080","10.244.1.2:8080"]}',
  ]);
  model.setService(service('web', { ports: [{ name: 'http', port: 81 }] }));
  assert.deepEqual(logged(4), [
    '4 Service port updated {"ipFamily":"IPv4","portName":"default/web:http","servicePort":"10.96.0.1:81/TCP"}',
    '4 Service port removed {"ipFamily":"IPv4","portName":"default/web:dns"}',
  ]);
  model.setEndpointSlice(slice('web-1', ['10.244.1.2'], HTTP));
  assert.deepEqual(logged(4), [
    '3 Endpoints of a service port updated {"ipFamily":"IPv4","portName":"default/web:http","endpoints":["10.244.1.2:8080"]}',
  ]);
  model.deleteEndpointSlice('default/web-1');
  model.deleteService('default/web');
  assert.deepEqual(logged(4), [
    '4 Service port removed {"ipFamily":"IPv4","portName":"default/web:http"}',
    '3 Endpoints of a service port removed {"ipFamily":"IPv4","portName":"default/web:http"}',
  ]);
});

test('LOG-22 endpoints are logged from verbosity 3 on, service ports from 4 on', () => {
  for (const [verbosity, levels] of [
    [2, []],
    [3, ['3']],
    [4, ['4', '4', '3']],
  ] as const) {
    const { model, logged } = create();
    model.setService(WEB);
    model.setEndpointSlice(slice('web-1', ['10.244.1.1'], HTTP));
    assert.deepEqual(
      logged(verbosity).map(line => line[0]),
      levels,
    );
  }
});

test('LOG-22 hints that the node ignores are logged at verbosity 2, incomplete ones at 7', () => {
  const hints = (...zones: readonly (string | undefined)[]) =>
    slice(
      'web-1',
      zones.map((zone, i) => ({ ip: `10.244.1.${i + 1}`, zoneHints: zone === undefined ? [] : [zone] })),
      HTTP,
    );
  const cases = [
    [
      hints('zone-b'),
      2,
      '2 Topology hints are ignored {"ipFamily":"IPv4","portName":"default/web:http","reason":"none is for zone zone-a"}',
    ],
    [hints('zone-a', undefined), 2, undefined],
    [
      hints('zone-a', undefined),
      7,
      '7 Topology hints are ignored {"ipFamily":"IPv4","portName":"default/web:http","reason":"some ready endpoints have none"}',
    ],
    [hints('zone-a'), 7, undefined],
  ] as const;
  for (const [endpoints, verbosity, line] of cases) {
    const { model, logged } = create();
    model.setService(WEB);
    model.setEndpointSlice(endpoints);
    assert.equal(
      logged(verbosity).find(text => text.includes('hints')),
      line,
    );
  }
});

test('LOG-22 while the level is off, no object is read', () => {
  const log = new Logger({ isEnabled: () => false, write: () => assert.fail('nothing is logged') });
  const services = new Proxy([], { get: () => assert.fail('no change is read') });
  logChanges(log, 'IPv4', { services }, NODE);
});
