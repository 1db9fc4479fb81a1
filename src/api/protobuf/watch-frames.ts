import { Chunks } from './chunks.ts';

const HEADER = 4;
/** Far above what an API server stores as one object: more is no frame, and would be held in memory. */
const LONGEST_FRAME = 32 << 20;

/** Splits the body of a watch into frames: each is its length, big-endian in four bytes, and that many bytes. */
export class WatchFrames {
  readonly #chunks = new Chunks();
  /** What came is no sequence of frames. */
  broken = false;

  /** The body may only end where this is true. */
  get complete(): boolean {
    return this.#chunks.empty;
  }

  /** Calls `emit` for each frame that is complete. */
  push(chunk: Uint8Array, emit: (frame: Buffer) => void): void {
    const bytes = this.broken ? undefined : this.#chunks.take(chunk);
    if (!bytes) return;
    let at = 0;
    let wanted = HEADER;
    while (bytes.length - at >= HEADER) {
      const length = bytes.readUInt32BE(at);
      this.broken = length > LONGEST_FRAME;
      if (this.broken) return;
      wanted = HEADER + length;
      if (bytes.length - at < wanted) break;
      emit(bytes.subarray(at + HEADER, at + wanted));
      at += wanted;
      wanted = HEADER;
    }
    this.#chunks.keep(bytes.subarray(at), wanted);
  }
}
