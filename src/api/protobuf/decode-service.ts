import { NONE } from '../../lib/none.ts';
import type { Service } from '../objects.ts';
import { decodeObjectMeta, emptyMetadata, requireName } from './decode-metadata.ts';
import { decodeServiceSpec, NO_SPEC } from './decode-service-spec.ts';
import { decodeServiceStatus } from './decode-service-status.ts';
import { lengthKey, type ProtobufReader } from './reader.ts';

const METADATA = lengthKey(1);
const SPEC = lengthKey(2);
const STATUS = lengthKey(3);

export function decodeService(reader: ProtobufReader): Service {
  let found = emptyMetadata();
  let spec = NO_SPEC;
  let ingress: Service['status']['loadBalancer']['ingress'] = NONE;
  while (reader.next()) {
    if (reader.key === METADATA) found = reader.message(decodeObjectMeta, 'metadata');
    else if (reader.key === SPEC) spec = reader.message(decodeServiceSpec, 'spec');
    else if (reader.key === STATUS) ingress = reader.message(decodeServiceStatus, 'status');
    else reader.skip();
  }
  requireName(reader, found);
  const { name, namespace, labels, annotations, resourceVersion, uid } = found;
  const metadata = { name, namespace, labels, annotations, resourceVersion, uid };
  return { kind: 'Service', metadata, spec, status: ingress.length === 0 ? NO_STATUS : { loadBalancer: { ingress } } };
}

const NO_STATUS: Service['status'] = { loadBalancer: { ingress: NONE } };
