import { leaseName, leasePath } from '../api/index.ts';
import { type ApiClient, errorFromResponse } from '../client/index.ts';

/** The Lease of a node, and where it is. */
export interface LeaseToWrite {
  readonly namespace: string;
  readonly node: string;
  /** In a patch, fields that are null are removed. */
  readonly lease: object;
}

interface LeaseRequest {
  readonly method: 'PATCH' | 'POST';
  readonly contentType: string;
  readonly path: string;
  readonly text: string;
}

/** Patches the Lease, or creates it if there is none. Rejects with the API server's reason. */
export async function writeLease(
  client: ApiClient,
  { namespace, node, lease }: LeaseToWrite,
  signal: AbortSignal,
): Promise<void> {
  const path = leasePath(namespace);
  const text = JSON.stringify(lease);
  const patch = { method: 'PATCH', contentType: 'application/merge-patch+json' } as const;
  if (await send(client, { ...patch, path: `${path}/${leaseName(node)}`, text }, signal)) return;
  const whole = JSON.stringify(lease, (_, value) => value ?? undefined);
  await send(client, { method: 'POST', contentType: 'application/json', path, text: whole }, signal);
}

/** Sends the request. Returns false if there is no Lease to patch. */
async function send(
  client: ApiClient,
  { method, contentType, path, text }: LeaseRequest,
  signal: AbortSignal,
): Promise<boolean> {
  const common = { accept: 'application/json', body: Buffer.from(text), signal };
  const response = await client.request({ method, path, contentType, ...common });
  if (response.status < 200 || response.status > 299) {
    const error = await errorFromResponse(response);
    if (response.status === 404 && method === 'PATCH') return false;
    throw error;
  }
  // The connection is free for others only after the whole answer.
  for await (const _ of response.body);
  return true;
}
