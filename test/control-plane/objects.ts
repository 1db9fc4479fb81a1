/** An object of the API with all its fields. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    /** The default is `default`, for kinds that have a namespace. */
    readonly namespace?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

export interface Answer {
  readonly status: number;
  /** The body. Undefined if it is not JSON. */
  readonly json: unknown;
}

export type Request = (method: string, path: string, body?: unknown) => Promise<Answer>;

interface Resource {
  readonly name: string;
  readonly namespaced: boolean;
  readonly kind: string;
}

/** Writes and reads objects of any kind. The server says which path a kind has. */
export class Objects {
  readonly #request: Request;
  readonly #resources = new Map<string, readonly Resource[]>();

  constructor(request: Request) {
    this.#request = request;
  }

  /**
   * Creates or replaces the object, and writes its status if it has one. Returns the object as the server stored it.
   */
  async apply(object: KubeObject): Promise<KubeObject> {
    const { collection, item } = await this.#paths(object);
    // This reads first, because a POST cannot show whether the object exists: for a Service that exists, the server
    // only answers that its cluster IP is taken.
    const former = await this.read(object);
    const written = former
      ? await this.#write('PUT', item, withVersionOf(object, former))
      : await this.#write('POST', collection, object);
    if (object.status === undefined) return written;
    return this.#write('PUT', `${item}/status`, { ...written, status: object.status });
  }

  async read(object: KubeObject): Promise<KubeObject | undefined> {
    const { item } = await this.#paths(object);
    const answer = await this.#request('GET', item);
    return answer.status === 404 ? undefined : resultOf('GET', item, answer);
  }

  /** Succeeds also if the object does not exist. */
  async delete(object: KubeObject): Promise<void> {
    const { item } = await this.#paths(object);
    const answer = await this.#request('DELETE', item);
    if (answer.status >= 300 && answer.status !== 404) throw requestError('DELETE', item, answer);
  }

  async #write(method: 'POST' | 'PUT', path: string, object: KubeObject): Promise<KubeObject> {
    return resultOf(method, path, await this.#request(method, path, object));
  }

  async #paths({ apiVersion, kind, metadata }: KubeObject): Promise<{ collection: string; item: string }> {
    const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const resource = (await this.#resourcesOf(group)).find(({ kind: known }) => known === kind);
    if (!resource) throw new Error(`the API server has no ${kind} in ${apiVersion}`);
    const scope = resource.namespaced ? `/namespaces/${metadata.namespace ?? 'default'}` : '';
    const collection = `${group}${scope}/${resource.name}`;
    return { collection, item: `${collection}/${metadata.name}` };
  }

  async #resourcesOf(group: string): Promise<readonly Resource[]> {
    const known = this.#resources.get(group);
    if (known) return known;
    const answer = await this.#request('GET', group);
    const { json } = answer;
    if (!isRecord(json) || !Array.isArray(json.resources)) throw requestError('GET', group, answer);
    // The list also has subresources, such as services/status.
    const resources = json.resources.filter(isResource).filter(({ name }) => !name.includes('/'));
    this.#resources.set(group, resources);
    return resources;
  }
}

function withVersionOf(object: KubeObject, { metadata: { resourceVersion } }: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

function resultOf(method: string, path: string, answer: Answer): KubeObject {
  if (answer.status >= 300 || !isObject(answer.json)) throw requestError(method, path, answer);
  return answer.json;
}

function requestError(method: string, path: string, { status, json }: Answer): Error {
  const message = isRecord(json) ? json.message : undefined;
  return new Error(`${method} ${path}: status ${status}, ${message ?? JSON.stringify(json)}`);
}

function isObject(value: unknown): value is KubeObject {
  return isRecord(value) && typeof value.kind === 'string' && isRecord(value.metadata);
}

function isResource(value: unknown): value is Resource {
  return isRecord(value) && typeof value.name === 'string' && typeof value.namespaced === 'boolean';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
