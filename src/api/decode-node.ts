import { NONE } from '../lib/none.ts';
import { decodeMetadataWithUid } from './decode-metadata.ts';
import type { FieldReader, Fields } from './field-reader.ts';
import type { Node, NodeAddress, ObjectMeta } from './objects.ts';

export function decodeNode(reader: FieldReader, node: Fields): Node {
  const { podCIDRs, taints } = reader.map(node.spec, 'spec', decodeSpec);
  return {
    kind: 'Node',
    metadata: reader.map(node.metadata, 'metadata', decodeNodeMetadata),
    podCIDRs,
    addresses: reader.map(node.status, 'status', decodeAddresses),
    taints,
  };
}

function decodeNodeMetadata(reader: FieldReader, metadata: Fields): ObjectMeta {
  return {
    ...decodeMetadataWithUid(reader, metadata),
    namespace: '',
    deletionTimestamp: reader.string(metadata.deletionTimestamp, 'deletionTimestamp'),
  };
}

function decodeSpec(reader: FieldReader, spec: Fields): Pick<Node, 'podCIDRs' | 'taints'> {
  const first = reader.string(spec.podCIDR, 'podCIDR') ?? '';
  const podCIDRs = reader.strings(spec.podCIDRs, 'podCIDRs');
  return {
    podCIDRs: podCIDRs.length === 0 && first !== '' ? [first] : podCIDRs,
    taints: spec.taints ? reader.maps(spec.taints, 'taints', (_, taint) => reader.name(taint.key, 'key') ?? '') : NONE,
  };
}

function decodeAddresses(reader: FieldReader, status: Fields): readonly NodeAddress[] {
  return reader.maps(status.addresses, 'addresses', (_, address) => ({
    type: reader.name(address.type, 'type') ?? '',
    address: reader.string(address.address, 'address') ?? '',
  }));
}
