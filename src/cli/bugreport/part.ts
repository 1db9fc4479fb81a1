/** One file of a report. */
export interface Part {
  /** `kernel/nft-ip.txt` */
  readonly file: string;
  readonly about: string;
  /** Rejects if the content cannot be read. The report then has the reason. */
  collect(): Promise<string>;
}

/** A part that was collected. */
export interface CollectedPart {
  readonly file: string;
  readonly about: string;
  readonly content: string;
  /** Why the content is missing. */
  readonly problem?: string;
}

/** No file of a report is longer, in characters. */
export const MAX_PART_LENGTH = 64 << 20;
