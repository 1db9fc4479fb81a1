import { NONE } from '../../lib/none.ts';
import type { Node, NodeAddress } from '../objects.ts';
import { decodeObjectMeta, emptyMetadata, requireName } from './decode-metadata.ts';
import { append, finish, type GrowingList } from './growing-list.ts';
import { lengthKey, type ProtobufReader } from './reader.ts';

const METADATA = lengthKey(1);
const SPEC = lengthKey(2);
const STATUS = lengthKey(3);

export function decodeNode(reader: ProtobufReader): Node {
  let found = emptyMetadata();
  let spec = NO_SPEC;
  let addresses: readonly NodeAddress[] = NONE;
  while (reader.next()) {
    if (reader.key === METADATA) found = reader.message(decodeObjectMeta, 'metadata');
    else if (reader.key === SPEC) spec = reader.message(decodeSpec);
    else if (reader.key === STATUS) addresses = reader.message(decodeStatus);
    else reader.skip();
  }
  requireName(reader, found);
  const { name, labels, annotations, resourceVersion, uid, deletionTimestamp } = found;
  const metadata = { name, namespace: '', labels, annotations, resourceVersion, uid, deletionTimestamp };
  return { kind: 'Node', metadata, podCIDRs: spec.podCIDRs, addresses, taints: spec.taints };
}

interface Spec {
  readonly podCIDRs: readonly string[];
  readonly taints: readonly string[];
}

const NO_SPEC: Spec = { podCIDRs: NONE, taints: NONE };
const POD_CIDR = lengthKey(1);
const TAINTS = lengthKey(5);
const POD_CIDRS = lengthKey(7);

function decodeSpec(reader: ProtobufReader): Spec {
  let first = '';
  let podCIDRs: GrowingList<string> = NONE;
  let taints: GrowingList<string> = NONE;
  while (reader.next()) {
    if (reader.key === POD_CIDR) first = reader.string();
    else if (reader.key === POD_CIDRS) podCIDRs = append(podCIDRs, reader.string());
    else if (reader.key === TAINTS) taints = append(taints, reader.message(decodeTaintKey));
    else reader.skip();
  }
  return {
    podCIDRs: podCIDRs.length === 0 && first !== '' ? [first] : finish(podCIDRs),
    taints: finish(taints),
  };
}

const TAINT_KEY = lengthKey(1);

function decodeTaintKey(reader: ProtobufReader): string {
  let key = '';
  while (reader.next()) {
    if (reader.key === TAINT_KEY) key = reader.name();
    else reader.skip();
  }
  return key;
}

const ADDRESSES = lengthKey(5);

function decodeStatus(reader: ProtobufReader): readonly NodeAddress[] {
  let addresses: GrowingList<NodeAddress> = NONE;
  while (reader.next()) {
    if (reader.key === ADDRESSES) addresses = append(addresses, reader.message(decodeAddress));
    else reader.skip();
  }
  return finish(addresses);
}

const ADDRESS_TYPE = lengthKey(1);
const ADDRESS = lengthKey(2);

function decodeAddress(reader: ProtobufReader): NodeAddress {
  let type = '';
  let address = '';
  while (reader.next()) {
    if (reader.key === ADDRESS_TYPE) type = reader.name();
    else if (reader.key === ADDRESS) address = reader.string();
    else reader.skip();
  }
  return { type, address };
}
