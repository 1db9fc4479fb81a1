import type { MessageWriter } from '../netlink/index.ts';
import { decodePort, encodePort } from './port.ts';

/** `30080` */
export interface BitmapPort {
  readonly kind: 'bitmap:port';
  readonly port: number;
}

export function encodeBitmapPort(writer: MessageWriter, { port }: BitmapPort): void {
  encodePort(writer, port);
}

export function decodeBitmapPort(data: ReadonlyMap<number, Buffer>): BitmapPort | undefined {
  const port = decodePort(data);
  return port === undefined ? undefined : { kind: 'bitmap:port', port };
}

export function printBitmapPort({ port }: BitmapPort): string {
  return String(port);
}
