import { asU32, attributeMap } from '../netlink/index.ts';

const Attribute = { VERSION: 1, CONN_TAB_SIZE: 2 } as const;

export interface Info {
  /** `1.2.1`. */
  readonly version: string;
  /** The number of buckets in the connection table. */
  readonly connectionTableSize: number;
}

/** Decodes the answer to GET_INFO; `start` is where its attributes begin. */
export function decodeInfo(body: Buffer, start = 0): Info | undefined {
  const attributes = attributeMap(body, start);
  const version = asU32(attributes.get(Attribute.VERSION));
  const connectionTableSize = asU32(attributes.get(Attribute.CONN_TAB_SIZE));
  if (version === undefined || connectionTableSize === undefined) return undefined;
  return { version: [16, 8, 0].map(shift => (version >>> shift) & 0xff).join('.'), connectionTableSize };
}

export function printInfo({ version, connectionTableSize }: Info): string {
  return `IP Virtual Server version ${version} (size=${connectionTableSize})`;
}
