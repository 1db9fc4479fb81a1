import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../src/api/index.ts';
import { type Change, latestOf } from '../../src/lib/change.ts';
import { CaseObjects } from './case-objects.ts';
import { MODES } from './modes.ts';
import { caseFolders, readCase, readTraffic } from './recorded-case.ts';

test('PLAY-2 every case has objects, and recorded traffic of its Services', async () => {
  for (const mode of MODES) {
    for (const folder of caseFolders(mode)) {
      const { steps } = await readCase(folder);
      const names = steps.flatMap(({ set }) => set.filter(({ kind }) => kind === 'Service')).map(o => o.metadata.name);
      const lines = readTraffic(folder, mode).split('\n');
      assert.ok(lines.length > 3, folder);
      assert.ok(
        lines.every(line => names.some(name => line.includes(`${name}:`))),
        folder,
      );
    }
  }
});

test('PLAY-2 a case runs only in the modes that its configuration names', () => {
  const namesIn = (mode: 'nftables' | 'iptables' | 'ipvs') => caseFolders(mode).map(folder => folder.split('/').at(-1));
  assert.ok(namesIn('ipvs').includes('config-ipvs-sh-strictarp'));
  assert.ok(!namesIn('nftables').includes('config-ipvs-sh-strictarp'));
  assert.ok(namesIn('iptables').includes('config-no-localhost-nodeports'));
  assert.ok(!namesIn('ipvs').includes('config-no-localhost-nodeports'));
  assert.ok(!namesIn('nftables').includes('large-cluster'));
});

test('PLAY-2 steps set and remove objects, and the source reports the differences', async () => {
  const { steps } = await readCase('test/cases/seq-delete-recreate');
  const objects = new CaseObjects();
  const reported = steps.map(step => {
    const { nodes, serviceCidrs, services, endpointSlices } = objects.apply(step);
    const changes: Change<KubeObject>[] = [...nodes, ...serviceCidrs, ...services, ...endpointSlices];
    return changes.map(change => {
      const { kind, metadata } = latestOf(change);
      return `${change.type} ${kind} ${metadata.name}`;
    });
  });
  assert.deepEqual(reported, [
    [
      'added Node node-a',
      'added ServiceCIDR kubernetes',
      'added Service gone',
      'added Service stay',
      'added EndpointSlice gone-1',
      'added EndpointSlice stay-1',
    ],
    ['removed Service gone'],
    ['removed EndpointSlice gone-1'],
    ['added Service gone'],
    ['added EndpointSlice gone-1'],
  ]);
  assert.deepEqual(
    objects.services.map(({ metadata }) => metadata.name),
    ['stay', 'gone'],
  );
});

test('PLAY-2 a proxy receives no objects that its watches exclude, but the suite still asks their addresses', async () => {
  const { steps } = await readCase('test/cases/headless-externalname-proxyname');
  const objects = new CaseObjects();
  const changes = steps.map(step => objects.apply(step));
  const received = changes.flatMap(({ services }) => services).map(change => latestOf(change).metadata.name);
  assert.deepEqual(received, ['extname', 'seen']);
  assert.deepEqual(
    objects.services.map(({ metadata }) => metadata.name),
    ['headless', 'extname', 'other-proxy', 'seen'],
  );
});

test('PLAY-2 endpoints are counted over all slices of a Service, by family', async () => {
  const { steps } = await readCase('test/cases/dual-stack');
  const objects = new CaseObjects();
  for (const step of steps) objects.apply(step);
  const [ds] = objects.services;
  assert.ok(ds);
  assert.equal(objects.endpointCount(ds, 'IPv4'), 3);
  assert.equal(objects.endpointCount(ds, 'IPv6'), 2);
});
