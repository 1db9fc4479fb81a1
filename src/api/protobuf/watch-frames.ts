import { Chunks } from './chunks.ts';

const HEADER = 4;
/** Limits memory. It is far above the largest object that an API server stores. */
const MAX_FRAME_BYTES = 32 << 20;

/** Splits the body of a watch into frames. A frame is a length of four bytes, big-endian, and that many bytes. */
export class WatchFrames {
  readonly #chunks = new Chunks();
  /** The bytes are not a sequence of frames. */
  broken = false;

  /** True where the body may end. */
  get complete(): boolean {
    return this.#chunks.isEmpty;
  }

  /** Calls `emit` for each complete frame. */
  push(chunk: Uint8Array, emit: (frame: Buffer) => void): void {
    const bytes = this.broken ? undefined : this.#chunks.add(chunk);
    if (!bytes) return;
    let at = 0;
    let wanted = HEADER;
    while (bytes.length - at >= HEADER) {
      const length = bytes.readUInt32BE(at);
      this.broken = length > MAX_FRAME_BYTES;
      if (this.broken) return;
      wanted = HEADER + length;
      if (bytes.length - at < wanted) break;
      emit(bytes.subarray(at + HEADER, at + wanted));
      at += wanted;
      wanted = HEADER;
    }
    this.#chunks.putBack(bytes.subarray(at), wanted);
  }
}
