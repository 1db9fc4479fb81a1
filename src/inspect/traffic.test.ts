import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askRoute } from '../../test/support/ask-route.ts';
import type { ServicePortTraffic } from '../modes/index.ts';
import { trafficByService, trafficRoute } from './traffic.ts';

const WEB = { family: 'IPv4', service: 'default/web' } as const;

const TRAFFIC: readonly ServicePortTraffic[] = [
  {
    ...WEB,
    port: 'http',
    connections: 5,
    active: 1,
    endpoints: new Map([
      ['10.0.0.1:80', { connections: 1 }],
      ['10.0.0.2:80', { connections: 4, active: 1 }],
    ]),
  },
  { ...WEB, port: 'admin', connections: 2 },
  { family: 'IPv4', service: 'default/other', port: '', connections: 1, dropped: 3 },
];

test('TRAFFIC-13 the traffic of a Service by port and endpoint, the busiest endpoint first', async () => {
  const { status, lines } = await askRoute(
    trafficRoute(async () => TRAFFIC),
    '/v1/traffic?service=web',
  );
  assert.equal(status, 200);
  assert.deepEqual(lines[0], {
    schema: 'pointsman.traffic/v1',
    service: 'default/web',
    isCounted: true,
    ports: [
      {
        family: 'IPv4',
        name: 'http',
        connections: 5,
        active: 1,
        endpoints: [
          { address: '10.0.0.2:80', connections: 4, active: 1 },
          { address: '10.0.0.1:80', connections: 1 },
        ],
      },
      { family: 'IPv4', name: 'admin', connections: 2, endpoints: [] },
    ],
  });
});

test('TRAFFIC-13 a mode that does not count says so', async () => {
  const { lines } = await askRoute(
    trafficRoute(async () => undefined),
    '/v1/traffic?service=web',
  );
  assert.deepEqual(lines[0], {
    schema: 'pointsman.traffic/v1',
    service: 'default/web',
    isCounted: false,
    ports: [],
  });
});

test('TRAFFIC-12 a Service has the sums of its ports, and 0 for what the mode counts elsewhere', () => {
  const byService = trafficByService(TRAFFIC);
  assert.deepEqual(byService.counted, ['connections', 'dropped', 'active']);
  assert.deepEqual(byService.of('default/web'), { connections: 7, active: 1, dropped: 0 });
  assert.deepEqual(byService.of('default/none'), { connections: 0, active: 0, dropped: 0 });
});
