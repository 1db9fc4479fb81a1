// Functions that encode fields of protobuf messages.

export function varint(value: bigint | number): number[] {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  for (; left > 0x7fn; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  bytes.push(Number(left));
  return bytes;
}

export function number(field: number, value: bigint | number | boolean | undefined): number[] {
  return value === undefined ? [] : [...varint(field << 3), ...varint(BigInt(value))];
}

export function bytes(field: number, value: Iterable<number> | undefined): number[] {
  if (value === undefined) return [];
  const content = [...value];
  return [...varint((field << 3) | 2), ...varint(content.length), ...content];
}

export function text(field: number, value: string | undefined): number[] {
  return bytes(field, value === undefined ? undefined : Buffer.from(value));
}

export function texts(field: number, values: readonly string[] = []): number[] {
  return values.flatMap(value => text(field, value));
}

export function map(field: number, entries: Readonly<Record<string, string>> = {}): number[] {
  return Object.entries(entries).flatMap(([key, value]) => bytes(field, [...text(1, key), ...text(2, value)]));
}

/** An object in its envelope, as an API server sends it. */
export function enveloped(apiVersion: string, kind: string, raw: Iterable<number>): Buffer {
  const type = [...text(1, apiVersion), ...text(2, kind)];
  return Buffer.from([...Buffer.from('k8s\0'), ...bytes(1, type), ...bytes(2, raw), ...text(3, ''), ...text(4, '')]);
}

/** A frame of a watch. `object` must be in its envelope. */
export function watchFrame(type: string, object: Iterable<number>): Buffer {
  const event = Buffer.from([...text(1, type), ...bytes(2, bytes(1, object))]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}
