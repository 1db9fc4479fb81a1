import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** As many as in the benchmarks: one Service for each pod of the largest clusters that Kubernetes promises to support. */
export const MANY = 44_125;
const NAMESPACES = 97;
const OBJECTS_PER_FILE = 10_000;

export function manyServiceKey(i: number): string {
  return `team-${i % NAMESPACES}/service-${i}`;
}

export function manyServiceIp(i: number): string {
  return `10.${96 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`;
}

/** Writes manifests of many Services. Every tenth has no endpoint. */
export function writeManyServices(folder: string, count = MANY): void {
  const objects = Array.from({ length: count }, (_, i) => objectsOf(i)).flat();
  mkdirSync(folder, { recursive: true });
  for (let from = 0; from < objects.length; from += OBJECTS_PER_FILE) {
    const list = { apiVersion: 'v1', kind: 'List', items: objects.slice(from, from + OBJECTS_PER_FILE) };
    writeFileSync(join(folder, `${from}.json`), JSON.stringify(list));
  }
}

function objectsOf(i: number): readonly object[] {
  const [namespace, name] = manyServiceKey(i).split('/');
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { clusterIP: manyServiceIp(i), ports: [{ name: 'http', port: 80 }] },
  };
  if (i % 10 === 0) return [service];
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-1`, namespace, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: [
      { addresses: [`10.244.${(i >> 8) & 255}.${i & 255}`], nodeName: 'node-a', conditions: { ready: true } },
    ],
  };
  return [service, slice];
}
