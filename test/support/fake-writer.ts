import type { Listing } from '../../src/modes/listing.ts';
import type { ModeSettings } from '../../src/modes/mode.ts';
import type { PlanBook } from '../../src/modes/plan-book.ts';
import type { KernelReading } from '../../src/modes/read-back.ts';
import type { Drift, DriftLook, WriteOutcome, Writer } from '../../src/modes/writer.ts';

/** A writer whose kernel a test controls: a map of committed plans. It records what the shell asks of it. */
export class FakeWriter implements Writer {
  readonly calls: string[] = [];
  isNextWriteFull = true;
  /** What the next write does instead of succeeding. */
  nextWrite: (() => WriteOutcome | Promise<WriteOutcome>) | undefined;
  /** What a look finds. */
  drift: Drift | undefined;
  /** What a repair writes, or throws. */
  repairs: () => string | undefined = () => 'wrote it again';
  leftoversDueMs: number | undefined;
  settings: ModeSettings;
  readonly book: PlanBook;

  constructor(settings: ModeSettings, book: PlanBook) {
    this.settings = settings;
    this.book = book;
  }

  takeSettings(settings: ModeSettings): void {
    this.settings = settings;
  }

  async write(): Promise<WriteOutcome> {
    this.calls.push(this.isNextWriteFull ? 'full write' : 'partial write');
    const { nextWrite } = this;
    this.nextWrite = undefined;
    if (nextWrite) return nextWrite();
    this.book.commit(this.book.changes());
    this.book.finishWrite();
    this.isNextWriteFull = false;
    return 'written';
  }

  async findDrift(look: DriftLook): Promise<Drift | undefined> {
    this.calls.push(`${look} look`);
    return this.drift;
  }

  async repair({ cause, parts }: Drift): Promise<string | undefined> {
    this.calls.push(`repair: ${cause}${parts ? ` (${[...parts]})` : ''}`);
    return this.repairs();
  }

  /** What a reading finds. */
  reads: () => KernelReading | Promise<KernelReading> = () => ({ entries: [], affinity: [] });

  async readBack(): Promise<KernelReading> {
    return this.reads();
  }

  async listing(): Promise<Listing> {
    return { blocks: [] };
  }

  async removeLeftovers(): Promise<void> {
    this.calls.push('remove leftovers');
    this.leftoversDueMs = undefined;
  }

  close(): void {
    this.calls.push('close');
  }
}
