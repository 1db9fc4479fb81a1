const BLOCK = 512;
const MAX_NAME_BYTES = 100;

/** The header and the padding of a file in a tar archive (ustar). The content stands between them. */
export function tarFile(
  name: string,
  size: number,
  seconds: number,
  mode = 0o600,
): { readonly header: Buffer; readonly padding: Buffer } {
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw new RangeError(`the name is too long for tar: ${name}`);
  const header = Buffer.alloc(BLOCK);
  const number = (value: number, offset: number, width: number) =>
    header.write(value.toString(8).padStart(width - 1, '0'), offset);
  header.write(name, 0);
  number(mode, 100, 8);
  number(0, 108, 8);
  number(0, 116, 8);
  number(size, 124, 12);
  number(Math.floor(seconds), 136, 12);
  header.write(' '.repeat(8), 148);
  header.write('0', 156);
  header.write('ustar\x0000root', 257);
  header.write('root', 297);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return { header, padding: Buffer.alloc(-size & (BLOCK - 1)) };
}

/** What stands after the last file. */
export const TAR_END: Buffer = Buffer.alloc(2 * BLOCK);
