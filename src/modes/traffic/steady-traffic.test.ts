import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServicePortTraffic, TrafficFigures } from './service-port-traffic.ts';
import { SteadyTraffic } from './steady-traffic.ts';

function web(figures: TrafficFigures, endpoint: TrafficFigures = figures): ServicePortTraffic[] {
  return [{ family: 'IPv4', service: 'ns/web', port: '', ...figures, endpoints: new Map([['10.0.0.1:80', endpoint]]) }];
}

test('TRAFFIC-2 a counter of the kernel that begins anew takes nothing away', async () => {
  const steady = new SteadyTraffic();
  await steady.take(web({ connections: 10, active: 4 }));
  const [after] = await steady.take(web({ connections: 3, active: 1 }));
  assert.equal(after?.connections, 10);
  assert.equal(after?.active, 1);
  assert.deepEqual(after?.endpoints?.get('10.0.0.1:80'), { connections: 10, active: 1 });
  const [grown] = await steady.take(web({ connections: 5, active: 0 }));
  assert.equal(grown?.connections, 12);
});

test('TRAFFIC-2 a figure that is missing in one reading keeps its sum', async () => {
  const steady = new SteadyTraffic();
  await steady.take(web({ connections: 1, bytes: 100 }));
  const [without] = await steady.take(web({ connections: 2 }));
  assert.equal(without?.bytes, 100);
});

test('TRAFFIC-2 what no reading has any more is forgotten', async () => {
  const steady = new SteadyTraffic();
  await steady.take(web({ connections: 10 }));
  assert.deepEqual(await steady.take([]), []);
  const [again] = await steady.take(web({ connections: 1 }));
  assert.equal(again?.connections, 1);
});
