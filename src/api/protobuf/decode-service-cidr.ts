import { NONE } from '../../lib/none.ts';
import type { ServiceCIDR } from '../objects.ts';
import { decodeObjectMeta, emptyMetadata, requireName } from './decode-metadata.ts';
import { append, finish, type GrowingList } from './growing-list.ts';
import { lengthKey, type ProtobufReader } from './reader.ts';

const METADATA = lengthKey(1);
const SPEC = lengthKey(2);

export function decodeServiceCidr(reader: ProtobufReader): ServiceCIDR {
  let found = emptyMetadata();
  let cidrs: readonly string[] = NONE;
  while (reader.next()) {
    if (reader.key === METADATA) found = reader.message(decodeObjectMeta, 'metadata');
    else if (reader.key === SPEC) cidrs = reader.message(decodeSpec);
    else reader.skip();
  }
  requireName(reader, found);
  const { name, labels, annotations, resourceVersion } = found;
  return { kind: 'ServiceCIDR', metadata: { name, namespace: '', labels, annotations, resourceVersion }, cidrs };
}

const CIDRS = lengthKey(1);

function decodeSpec(reader: ProtobufReader): readonly string[] {
  let cidrs: GrowingList<string> = NONE;
  while (reader.next()) {
    if (reader.key === CIDRS) cidrs = append(cidrs, reader.string());
    else reader.skip();
  }
  return finish(cidrs);
}
