import { LABEL_SERVICE_PROXY_NAME, objectKey, type Service } from '../../api/index.ts';
import { parseIp } from '../../net/index.ts';

/** Why no proxy does anything for the Service. Undefined if a proxy serves it. */
function notServedReason({ metadata, spec }: Service): string | undefined {
  if (LABEL_SERVICE_PROXY_NAME in metadata.labels) {
    return `the label ${LABEL_SERVICE_PROXY_NAME} leaves it to another proxy`;
  }
  if (spec.type === 'ExternalName') return 'type ExternalName: DNS gives its clients another name';
  if (spec.clusterIP === 'None') return 'headless (clusterIP None): DNS gives its clients the addresses of the pods';
  if (parseIp(spec.clusterIP) === undefined) return 'it has no cluster IP';
  return spec.ports.length === 0 ? 'it has no ports' : undefined;
}

export interface NotServed {
  readonly namespace: string;
  readonly name: string;
  readonly reason: string;
}

export function notServed(services: Iterable<Service>): readonly NotServed[] {
  const found = [...services].flatMap(service => {
    const reason = notServedReason(service);
    const { namespace, name } = service.metadata;
    return reason === undefined ? [] : [{ namespace, name, reason }];
  });
  return found.sort((a, b) => (objectKey(a) < objectKey(b) ? -1 : 1));
}
