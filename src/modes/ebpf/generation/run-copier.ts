import type { PoolValue } from '../programs/index.ts';

/** Copies runs of slots one behind another. Runs that already follow one another are one copy, because most do. */
export class RunCopier {
  readonly #from: Buffer;
  readonly #to: Buffer;
  readonly #slotBytes: number;
  /** The slots that wait for a copy. */
  #first = 0;
  #end = 0;
  /** Where they go. */
  #next = 0;

  constructor(from: Buffer, to: Buffer, slotBytes: number) {
    this.#from = from;
    this.#to = to;
    this.#slotBytes = slotBytes;
  }

  add({ first, count }: PoolValue): void {
    if (first !== this.#end) {
      this.flush();
      this.#first = first;
    }
    this.#end = first + count;
  }

  flush(): void {
    const size = this.#slotBytes;
    this.#from.copy(this.#to, this.#next * size, this.#first * size, this.#end * size);
    this.#next += this.#end - this.#first;
    this.#first = this.#end;
  }
}
