import { checkNames } from '../check-names.ts';
import type { DecodeResult } from '../decode.ts';
import { fieldProblem } from '../field-problem.ts';
import type { KubeObject } from '../objects.ts';
import { decodeEndpointSlice } from './decode-endpoint-slice.ts';
import { decodeNode } from './decode-node.ts';
import { decodeService } from './decode-service.ts';
import { decodeServiceCidr } from './decode-service-cidr.ts';
import { ProtobufReader } from './reader.ts';

/**
 * Decodes one object from the bytes inside its envelope or inside a list. Never throws. The result equals that of
 * decodeObject for the same object in JSON.
 */
export function decodeProtobufObject(bytes: Uint8Array, kind: KubeObject['kind']): DecodeResult {
  const reader = new ProtobufReader(bytes);
  const object = decodeKind(reader, kind);
  const problems = reader.broken || reader.problems.length > 0 ? reader.problems : checkNames(object);
  if (!reader.broken && problems.length === 0) return { kind: 'object', object };
  const { name, namespace } = object.metadata;
  const broken = fieldProblem([], `cannot be read: its bytes are no ${kind}`);
  return {
    kind: 'problems',
    problems: reader.broken ? [broken] : problems,
    subject: name === '' ? undefined : { kind, namespace, name },
  };
}

function decodeKind(reader: ProtobufReader, kind: KubeObject['kind']): KubeObject {
  switch (kind) {
    case 'Service':
      return decodeService(reader);
    case 'EndpointSlice':
      return decodeEndpointSlice(reader);
    case 'Node':
      return decodeNode(reader);
    case 'ServiceCIDR':
      return decodeServiceCidr(reader);
  }
}
