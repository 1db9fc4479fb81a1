import { type KubeObject, LABEL_HEADLESS_SERVICE, LABEL_SERVICE_PROXY_NAME } from '../api/index.ts';

/** What an API server is asked for. `isSelected` makes the same choice where there is none. */
export const SERVICE_LABEL_SELECTOR = `!${LABEL_SERVICE_PROXY_NAME}`;
export const SERVICE_FIELD_SELECTOR = 'spec.clusterIP!=None';
export const ENDPOINT_SLICE_LABEL_SELECTOR = `!${LABEL_HEADLESS_SERVICE}`;

export function nodeFieldSelector(nodeName: string): string {
  return `metadata.name=${nodeName}`;
}

/** Whether a proxy on this node looks at the object at all. A label counts by being there, whatever its value. */
export function isSelected(object: KubeObject, nodeName: string): boolean {
  switch (object.kind) {
    case 'Service':
      return !(LABEL_SERVICE_PROXY_NAME in object.metadata.labels) && object.spec.clusterIP !== 'None';
    case 'EndpointSlice':
      return !(LABEL_HEADLESS_SERVICE in object.metadata.labels);
    case 'Node':
      return object.metadata.name === nodeName;
    case 'ServiceCIDR':
      return true;
  }
}
