import { decodeMetadata } from './decode-metadata.ts';
import type { FieldReader, Fields } from './field-reader.ts';
import type { ServiceCIDR } from './objects.ts';

export function decodeServiceCidr(reader: FieldReader, serviceCidr: Fields): ServiceCIDR {
  return {
    kind: 'ServiceCIDR',
    metadata: { ...reader.map(serviceCidr.metadata, 'metadata', decodeMetadata), namespace: '' },
    cidrs: reader.map(serviceCidr.spec, 'spec', (_, spec) => reader.strings(spec.cidrs, 'cidrs')),
  };
}
