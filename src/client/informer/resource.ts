import type { KubeObject } from '../../api/index.ts';

/** What is listed and watched: all objects of a kind that selectors choose. */
export interface Resource<T extends KubeObject = KubeObject> {
  readonly kind: T['kind'];
  readonly apiVersion: string;
  /** `/api/v1/services` */
  readonly path: string;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** A server that does not have the resource has none of its objects. */
  readonly isOptional?: boolean | undefined;
}

export type Query = Readonly<Record<string, string | undefined>>;

/** A path with its query; parameters that are undefined or empty are left out. */
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

/** Where one object of the resource is: `/api/v1/namespaces/shop/services/web`. */
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
