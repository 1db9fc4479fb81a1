import type { DecodeResult, KubeObject } from '../../api/index.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Problem } from '../../lib/problem.ts';
import type { ApiClient } from '../index.ts';
import { isOfResource, objectPath, objectTitle, type Resource } from './resource.ts';
import { ResourceRequests } from './resource-requests.ts';

export interface ListedObjects<T extends KubeObject> {
  readonly objects: readonly T[];
  /** The objects that cannot be used. */
  readonly problems: readonly Problem[];
}

const PAGE_SIZE = '500';

/**
 * Lists all objects of a resource, as they are now, and does not watch them. Rejects with the first error: the caller
 * waits for the answer. The signal aborts the request.
 */
export async function listOnce<T extends KubeObject>(
  client: ApiClient,
  resource: Resource<T>,
  accept: string,
  signal: AbortSignal,
): Promise<ListedObjects<T>> {
  const objects: T[] = [];
  const problems: Problem[] = [];
  const emit = (result: DecodeResult) => {
    if (result.kind === 'problems') problems.push(...problemsOf(result, resource));
    else if (result.kind === 'object' && isOfResource(result.object, resource)) objects.push(result.object);
  };
  const requests = new ResourceRequests({ client, resource, accept, clock: systemClock }, () => {});
  const abort = () => requests.abort();
  signal.addEventListener('abort', abort);
  try {
    await requests.list({ limit: PAGE_SIZE }, response => response, emit);
  } finally {
    signal.removeEventListener('abort', abort);
  }
  return { objects, problems };
}

function problemsOf(
  { problems, subject }: Extract<DecodeResult, { readonly kind: 'problems' }>,
  resource: Resource,
): readonly Problem[] {
  const where = subject ? objectPath(resource, subject) : resource.path;
  const object = subject ? objectTitle(resource, subject) : resource.kind;
  return problems.map(({ field, message }) => ({
    where,
    kind: resource.kind,
    object,
    field: field || undefined,
    message: `${message} (the object is not used)`,
  }));
}
