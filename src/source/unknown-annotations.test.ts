import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseManifests } from './parse-manifests.ts';

async function problemsOf(kind: 'Service' | 'EndpointSlice', annotation: string): Promise<readonly string[]> {
  const metadata = `metadata:\n  name: web\n  annotations:\n    ${annotation}\n`;
  const text =
    kind === 'Service'
      ? `apiVersion: v1\nkind: Service\n${metadata}spec: {clusterIP: 10.96.0.1, ports: [{port: 80}]}\n`
      : `apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n${metadata}addressType: IPv4\nendpoints: []\n`;
  const { manifests, problems } = await parseManifests(text, 'x');
  assert.equal(manifests.size, 1, 'the object is used');
  return problems.map(({ where, field, message }) => `${where} ${field} ${message}`);
}

test('FILES-23 an annotation with our prefix that nothing reads is a problem, with the nearest name', async () => {
  assert.deepEqual(await problemsOf('Service', 'pointsman.dev/balanse: random'), [
    'x:6:5 metadata.annotations["pointsman.dev/balanse"] is no annotation that Pointsman knows: did you mean pointsman.dev/balance?',
  ]);
  assert.deepEqual(await problemsOf('Service', 'pointsman.dev/slow-start: "60"'), [
    'x:6:5 metadata.annotations["pointsman.dev/slow-start"] is no annotation that Pointsman knows: did you mean pointsman.dev/slow-start-seconds?',
  ]);
  assert.deepEqual(await problemsOf('Service', 'pointsman.dev/colour: blue'), [
    'x:6:5 metadata.annotations["pointsman.dev/colour"] is no annotation that Pointsman knows: remove it',
  ]);
});

test('FILES-23 an annotation of a Service has no effect on an EndpointSlice', async () => {
  assert.deepEqual(await problemsOf('EndpointSlice', 'pointsman.dev/balance: random'), [
    'x:6:5 metadata.annotations["pointsman.dev/balance"] has no effect here: write it on the Service',
  ]);
  assert.deepEqual(await problemsOf('EndpointSlice', 'pointsman.dev/weights: "3"'), []);
});

test('FILES-23 annotations that we know, and those of others, are no problem', async () => {
  assert.deepEqual(await problemsOf('Service', 'pointsman.dev/balance: random'), []);
  assert.deepEqual(await problemsOf('Service', 'example.com/balanse: random'), []);
});
