import type { KubeObject } from '../../api/index.ts';
import { ApiError, type ConfiguredApiClient, createApiClient } from '../../client/index.ts';
import { listOnce, objectPath, type Resource } from '../../client/informer/index.ts';
import type { Configuration } from '../../config/index.ts';
import { errorText } from '../../lib/error-text.ts';
import type { Problem } from '../../lib/problem.ts';
import { ALL_RESOURCES } from '../../source/index.ts';
import { type Snapshot, sortObjects } from './snapshot.ts';

export interface ClusterInput {
  readonly kubeconfig: string;
  /** Empty for the current context. */
  readonly context: string;
  readonly clientConnection: Configuration['clientConnection'];
  /** The time for all lists together. */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 60_000;
/** The rate of kubectl. With the rate of a proxy, the pages of a large cluster would take a minute. */
const RATE = { qps: 50, burst: 300 };

interface Listed {
  readonly objects: readonly KubeObject[];
  readonly problems: readonly Problem[];
  readonly note?: string;
}

/** Lists all objects of an API server once. Rejects with an Error that says what to do. */
export async function fromCluster(input: ClusterInput): Promise<Snapshot> {
  const clientConnection = { ...input.clientConnection, ...RATE };
  const client = createApiClient({ ...input, clientConnection });
  const seconds = (input.timeoutMs ?? TIMEOUT_MS) / 1000;
  const signal = AbortSignal.timeout(seconds * 1000);
  try {
    const lists = await Promise.all(ALL_RESOURCES.map(resource => list(client, resource, signal)));
    const objects = lists.flatMap(listed => listed.objects);
    return {
      origin: 'cluster',
      name: client.host,
      ...sortObjects(objects),
      whereOf: object => pathOf(object),
      problems: lists.flatMap(({ problems }) => problems),
      notes: lists.flatMap(({ note }) => note ?? []),
    };
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new Error(`the API server ${client.host} did not answer all lists within ${seconds} s`, { cause: error });
  } finally {
    client.close();
  }
}

async function list(client: ConfiguredApiClient, resource: Resource, signal: AbortSignal): Promise<Listed> {
  try {
    return await listOnce(client, resource, client.accept(), signal);
  } catch (error) {
    const status = error instanceof ApiError ? error.status : undefined;
    const message = `cannot list ${resource.path} of ${client.host}: ${errorText(error)}`;
    if (resource.isOptional && (status === 404 || status === 403)) return { objects: [], problems: [], note: message };
    throw new Error(status === 403 ? `${message}\n${allowText(resource)}` : message, { cause: error });
  }
}

function allowText({ path }: Resource): string {
  return `Allow this user to list ${path.slice(path.lastIndexOf('/') + 1)} in all namespaces, or use another kubeconfig or --context.`;
}

function pathOf({ kind, metadata }: KubeObject): string | undefined {
  const resource = ALL_RESOURCES.find(other => other.kind === kind);
  return resource && objectPath(resource, metadata);
}
