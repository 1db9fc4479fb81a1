/** A field of a protobuf message: a number, or bytes. */
export interface ProtobufField {
  readonly number: number;
  readonly value: number | Uint8Array;
}

/** The fields of a message, in their order. Ends early where the bytes make no sense. */
export function* protobufFields(bytes: Uint8Array): Generator<ProtobufField> {
  let at = 0;
  const varint = (): number | undefined => {
    let value = 0;
    for (let factor = 1; at < bytes.length && factor < 2 ** 63; factor *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    return undefined;
  };
  while (at < bytes.length) {
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
        if (length === undefined || at + length > bytes.length) return;
        yield { number, value: bytes.subarray(at, at + length) };
        at += length;
        break;
      }
      case 1:
        at += 8;
        break;
      case 5:
        at += 4;
        break;
      default:
        return;
    }
  }
}
