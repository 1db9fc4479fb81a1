/** A field of a protobuf message: a number, or bytes. */
export interface ProtobufField {
  readonly number: number;
  readonly value: number | Uint8Array;
}

/** The fields of a message, in their order. Stops at bytes that are not a field. */
export function* protobufFields(bytes: Uint8Array): Generator<ProtobufField> {
  let offset = 0;
  const varint = (): number | undefined => {
    let value = 0;
    for (let factor = 1; offset < bytes.length && factor < 2 ** 63; factor *= 128) {
      const byte = bytes[offset++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    return undefined;
  };
  while (offset < bytes.length) {
    const tag = varint();
    if (tag === undefined) return;
    const number = Math.floor(tag / 8);
    switch (tag % 8) {
      case 0: {
        const value = varint();
        if (value === undefined) return;
        yield { number, value };
        break;
      }
      case 2: {
        const length = varint();
        if (length === undefined || offset + length > bytes.length) return;
        yield { number, value: bytes.subarray(offset, offset + length) };
        offset += length;
        break;
      }
      case 1:
        offset += 8;
        break;
      case 5:
        offset += 4;
        break;
      default:
        return;
    }
  }
}
