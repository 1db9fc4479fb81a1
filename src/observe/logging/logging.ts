import { type Clock, systemClock } from '../../lib/clock.ts';
import { withoutSecrets } from '../../lib/secrets.ts';
import type { Entry, Format } from './entry.ts';
import { jsonLine } from './json-format.ts';
import { Logger, type LogSink } from './logger.ts';
import { Output, type Stream } from './output.ts';
import { RecentLines } from './recent-lines.ts';
import { textLine } from './text-format.ts';
import { Verbosity, type VModuleItem } from './verbosity.ts';

export interface LoggingSettings {
  readonly format: 'text' | 'json';
  readonly verbosity: number;
  readonly vmodule: readonly VModuleItem[];
  /** Information goes to stdout. Errors stay on stderr, and in the text format warnings too. */
  readonly splitStream: boolean;
  /** Size in bytes of the buffer for stdout. 0: no buffer. */
  readonly infoBufferSize: number;
  readonly flushFrequencyMs: number;
}

export const DEFAULT_LOGGING: LoggingSettings = {
  format: 'text',
  verbosity: 0,
  vmodule: [],
  splitStream: false,
  infoBufferSize: 0,
  flushFrequencyMs: 5000,
};

export interface LogStreams {
  readonly stdout: Stream;
  readonly stderr: Stream;
}

/** What can change while the process runs. */
export interface LogControl {
  readonly verbosity: number;
  setVerbosity(level: number): void;
  setVModule(vmodule: readonly VModuleItem[]): void;
  /** The last lines that were written, the oldest first. */
  recentLines(): readonly string[];
  flush(): void;
}

/** A larger `infoBufferSize` counts as this. */
const MAX_BUFFER_SIZE = 2 * 1024 ** 3;

/** The log of the process. The owner must flush it before the process ends. */
export class Logging implements LogControl, LogSink {
  readonly log: Logger = new Logger(this);
  readonly #streams: LogStreams;
  readonly #clock: Clock;
  readonly #verbosity = new Verbosity();
  readonly #recent = new RecentLines();
  #format: Format = textLine;
  #isJson = false;
  #info: Output;
  #errors: Output;

  constructor(streams: LogStreams, settings: LoggingSettings = DEFAULT_LOGGING, clock: Clock = systemClock) {
    this.#streams = streams;
    this.#clock = clock;
    this.#errors = new Output(streams.stderr, 0, 0, clock);
    this.#info = this.#errors;
    this.configure(settings);
  }

  configure(settings: LoggingSettings): void {
    this.flush();
    this.#isJson = settings.format === 'json';
    this.#format = this.#isJson ? jsonLine : textLine;
    this.#verbosity.setLevel(settings.verbosity);
    this.#verbosity.setVModule(settings.vmodule);
    const size = Math.min(settings.infoBufferSize, MAX_BUFFER_SIZE);
    this.#info = settings.splitStream
      ? new Output(this.#streams.stdout, size, settings.flushFrequencyMs, this.#clock)
      : this.#errors;
  }

  get verbosity(): number {
    return this.#verbosity.level;
  }

  setVerbosity(level: number): void {
    this.#verbosity.setLevel(level);
  }

  setVModule(vmodule: readonly VModuleItem[]): void {
    this.#verbosity.setVModule(vmodule);
  }

  isEnabled(level: number, source: string): boolean {
    return this.#verbosity.isEnabled(level, source);
  }

  write(entry: Omit<Entry, 'time'>): void {
    const line = withoutSecrets(this.#format({ ...entry, time: this.#clock.now() }));
    this.#recent.add(line);
    const isInfo = entry.severity === 'I' || (this.#isJson && entry.severity === 'W');
    (isInfo ? this.#info : this.#errors).write(line);
  }

  recentLines(): readonly string[] {
    return this.#recent.all();
  }

  flush(): void {
    this.#info.flush();
    this.#errors.flush();
  }
}
