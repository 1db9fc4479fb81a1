import type { KubeObject } from '../../api/index.ts';

/** What an informer lists and watches: the objects of one kind that the selectors choose. */
export interface Resource<T extends KubeObject = KubeObject> {
  readonly kind: T['kind'];
  readonly apiVersion: string;
  /** `/api/v1/services` */
  readonly path: string;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /**
   * The proxy can work without this resource. If the API server does not have it, or does not allow to read it, the
   * informer counts as synced without objects, and retries.
   */
  readonly isOptional?: boolean | undefined;
}

export type Query = Readonly<Record<string, string | undefined>>;

/** The path with its query. Leaves out parameters that are undefined or empty. */
export function resourcePath({ path, labelSelector, fieldSelector }: Resource, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ labelSelector, fieldSelector, ...query })) {
    if (value) parameters.set(name, value);
  }
  return `${path}?${parameters}`;
}

interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** The API path of one object: `/api/v1/namespaces/shop/services/web`. */
export function objectPath({ path }: Resource, { namespace, name }: ObjectName): string {
  const end = path.lastIndexOf('/');
  const scope = namespace === '' ? '' : `/namespaces/${namespace}`;
  return `${path.slice(0, end)}${scope}${path.slice(end)}/${name}`;
}

/** `Service shop/web`, `Node node-a` */
export function objectTitle({ kind }: Resource, { namespace, name }: ObjectName): string {
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;
}

export function isOfResource<T extends KubeObject>(object: KubeObject, { kind }: Resource<T>): object is T {
  return object.kind === kind;
}
