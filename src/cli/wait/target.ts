import { decodeObject, LABEL_SERVICE_NAME, newestVersion, objectName } from '../../api/index.ts';
import { goQuote } from '../../lib/go-quote.ts';
import { ENDPOINT_SLICE_LABEL_SELECTOR, isSelected } from '../../source/index.ts';
import type { ApiReader } from './api-reader.ts';

/** What must be in the kernel. */
export interface Target {
  /** `namespace/name` */
  readonly service: string;
  /** The resource version of the Service. */
  readonly services: string;
  /** The newest resource version of its EndpointSlices. Undefined if there is none. */
  readonly endpointSlices: string | undefined;
  /** How many EndpointSlices the Service has. */
  readonly sliceCount: number;
}

/** Reads the Service and its EndpointSlices as they are now. Rejects if no proxy programs such a Service. */
export async function readTarget(reader: ApiReader, service: string): Promise<Target> {
  const { namespace, name } = objectName(service);
  const scope = `namespaces/${encodeURIComponent(namespace)}`;
  const found = await reader.get(`/api/v1/${scope}/services/${encodeURIComponent(name)}`);
  if (found === undefined) throw new Error(`there is no Service ${goQuote(service)}`);
  const services = versionOfService(found, service);
  const versions: string[] = [];
  const labelSelector = `${LABEL_SERVICE_NAME}=${name},${ENDPOINT_SLICE_LABEL_SELECTOR}`;
  await reader.list(`/apis/discovery.k8s.io/v1/${scope}/endpointslices`, { labelSelector }, item => {
    const decoded = decodeObject(item, { kind: 'EndpointSlice', apiVersion: 'discovery.k8s.io/v1' });
    if (decoded.kind === 'object') versions.push(decoded.object.metadata.resourceVersion ?? '');
  });
  const endpointSlices = newestVersion(versions);
  if (versions.length > 0 && endpointSlices === undefined) throw withoutOrder();
  return { service, services, endpointSlices, sliceCount: versions.length };
}

function versionOfService(value: unknown, name: string): string {
  const decoded = decodeObject(value);
  if (decoded.kind !== 'object' || decoded.object.kind !== 'Service')
    throw new Error(`the Service ${goQuote(name)} cannot be read`);
  const { metadata, spec } = decoded.object;
  if (spec.type === 'ExternalName') throw new Error(`${name} has the type ExternalName: no proxy programs it`);
  if (spec.clusterIP === 'None') throw new Error(`${name} is headless: no proxy programs it`);
  if (!isSelected(decoded.object, '')) throw new Error(`${name} has a label that leaves it to another proxy`);
  return metadata.resourceVersion ?? '';
}

function withoutOrder(): Error {
  return new Error('the resource versions of this API server are no numbers: they have no order');
}
