import type { ControlPlane } from '../../test/control-plane/control-plane.ts';
import type { Answer, KubeObject } from '../../test/control-plane/objects.ts';
import type { Size } from '../support/cluster.ts';
import { serviceObject, sliceObjects } from './objects.ts';

/** More requests at a time do not make the API server faster. */
const PARALLEL = 24;

const COLLECTIONS: Readonly<Record<string, string>> = {
  Service: '/api/v1/namespaces/default/services',
  EndpointSlice: '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
};

/** Fills an API server. Returns how long it took, in milliseconds. */
export async function loadObjects(cluster: ControlPlane, { services, endpoints }: Size): Promise<number> {
  const start = performance.now();
  await inParallel(services, async index => {
    await create(cluster, serviceObject(index));
    for (const slice of sliceObjects(index, endpoints)) await create(cluster, slice);
  });
  return performance.now() - start;
}

export async function create(cluster: ControlPlane, object: KubeObject): Promise<void> {
  const path = COLLECTIONS[object.kind] ?? '';
  try {
    checkAnswer(`POST ${path}`, await cluster.request('POST', path, object));
  } catch (error) {
    // A busy API server answers late, and has made the object nevertheless.
    if (!(await exists(cluster, object))) throw error;
  }
}

async function exists(cluster: ControlPlane, object: KubeObject): Promise<boolean> {
  return (await cluster.request('GET', pathOf(object))).status === 200;
}

/** Replaces an object, whatever version it has. */
export async function replace(cluster: ControlPlane, object: KubeObject): Promise<void> {
  const path = pathOf(object);
  checkAnswer(`PUT ${path}`, await cluster.request('PUT', path, object));
}

export async function remove(cluster: ControlPlane, object: KubeObject): Promise<void> {
  const path = pathOf(object);
  checkAnswer(`DELETE ${path}`, await cluster.request('DELETE', path));
}

/** Runs the work for all numbers below `count`, some at a time. */
export async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, count) }, worker));
}

function pathOf({ kind, metadata }: KubeObject): string {
  return `${COLLECTIONS[kind]}/${metadata.name}`;
}

function checkAnswer(request: string, { status, json }: Answer): void {
  if (status >= 300) throw new Error(`${request}: status ${status}, ${JSON.stringify(json)}`);
}
