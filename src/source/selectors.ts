import { type KubeObject, LABEL_HEADLESS_SERVICE, LABEL_SERVICE_PROXY_NAME } from '../api/index.ts';

/** The selectors of the watches. Without an API server, `isSelected` makes the same choice. */
export const SERVICE_LABEL_SELECTOR = `!${LABEL_SERVICE_PROXY_NAME}`;
export const SERVICE_FIELD_SELECTOR = 'spec.clusterIP!=None';
export const ENDPOINT_SLICE_LABEL_SELECTOR = `!${LABEL_HEADLESS_SERVICE}`;

export function nodeFieldSelector(nodeName: string): string {
  return `metadata.name=${nodeName}`;
}

/** Whether a proxy on this node uses the object. The value of a label does not matter, only its presence. */
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
