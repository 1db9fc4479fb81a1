import type { ControlPlane } from '../control-plane/control-plane.ts';

/** An Event object of the API. */
export interface EventObject {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly type: string;
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  readonly eventTime: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly regarding: { readonly kind: string; readonly name: string; readonly uid?: string };
}

export async function eventsIn(cluster: ControlPlane, namespace: string): Promise<readonly EventObject[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const { status, json } = await cluster.request('GET', path);
  if (status !== 200 || !isEventList(json)) throw new Error(`GET ${path}: status ${status}`);
  return json.items;
}

function isEventList(json: unknown): json is { readonly items: readonly EventObject[] } {
  return typeof json === 'object' && json !== null && 'items' in json && Array.isArray(json.items);
}
