import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Machine, machine } from './machine.ts';

/** The version of this format. A reader refuses any other. */
export const SCHEMA = 'pointsman-bench/1';

/**
 * How two runs are compared. A count must be the same. A size in bytes must not grow, except by a little, because names
 * and versions differ in length. An estimate varies too much to be compared. Everything else is compared loosely, as a
 * ratio to another subject.
 */
export type FigureKind = RatioKind | 'count' | 'size' | 'estimate';
export type RatioKind = 'time' | 'rate' | 'memory' | 'share';

/** One measured number, with everything that is needed to find the same number in another run. */
export interface Figure {
  /** What was done: `cold start`. */
  readonly part: string;
  /** How large the cluster was: `5000x5`, or `1000 Services`. */
  readonly size: string;
  /** Which program was measured: `Pointsman`, `kube-proxy v1.37.0`, `direct`. */
  readonly subject: string;
  readonly name: string;
  readonly unit: string;
  readonly kind: FigureKind;
  /** The median, if there are several samples. */
  readonly value: number;
  readonly samples?: number;
  /** The least and the greatest of the repetitions. */
  readonly spread?: readonly [least: number, greatest: number];
}

/** Values over time. */
export interface Series {
  readonly part: string;
  readonly size: string;
  readonly subject: string;
  readonly name: string;
  readonly unit: string;
  readonly points: readonly (readonly [seconds: number, value: number])[];
}

/** Two subjects whose ratio means something on any machine. */
export interface Comparison {
  readonly ours: string;
  readonly theirs: string;
}

/** Everything that one run of a bench found. */
export interface Result {
  readonly schema: typeof SCHEMA;
  readonly bench: string;
  readonly date: string;
  readonly command: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly comparisons: readonly Comparison[];
  /** Facts of the run that are no numbers, such as a content type. */
  readonly notes?: Readonly<Record<string, string>>;
  readonly figures: readonly Figure[];
  readonly series: readonly Series[];
}

/** Collects what a run finds, and writes it to a file. */
export class Recorder {
  readonly figures: Figure[] = [];
  readonly series: Series[] = [];
  readonly #bench: string;
  readonly #machine = machine();
  readonly #date = new Date();
  readonly #versions: Readonly<Record<string, string>>;
  readonly #comparisons: readonly Comparison[];
  readonly #notes: Record<string, string> = {};

  constructor(bench: string, versions: Readonly<Record<string, string>>, comparisons: readonly Comparison[] = []) {
    this.#bench = bench;
    this.#versions = versions;
    this.#comparisons = comparisons;
  }

  add(...figures: readonly Figure[]): void {
    this.figures.push(...figures);
  }

  /** Notes a fact of the run that is no number. */
  note(name: string, text: string): void {
    this.#notes[name] = text;
  }

  /** Everything so far. */
  result(): Result {
    return {
      schema: SCHEMA,
      bench: this.#bench,
      date: this.#date.toISOString(),
      command: commandText(this.#bench, process.argv.slice(2)),
      machine: this.#machine,
      versions: this.#versions,
      comparisons: this.#comparisons,
      ...(Object.keys(this.#notes).length > 0 && { notes: this.#notes }),
      figures: this.figures,
      series: this.series,
    };
  }

  /** Writes what there is, so that a run that breaks off leaves its figures. Without a path it does nothing. */
  write(path: string | undefined): void {
    if (path === undefined) return;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${JSON.stringify(this.result(), undefined, 2)}\n`);
  }
}

/** The command that repeats a run. Folders of programs are left out: they differ from machine to machine. */
export function commandText(bench: string, args: readonly string[]): string {
  const withoutFolders = args.map(arg => arg.replace(/^(--[\w-]+=)?\/.*\//, '$1'));
  return ['npm run bench --', bench, ...withoutFolders].join(' ');
}

/** Reads a result. Throws an Error if the text is none, or of another version. */
export function parseResult(text: string, name: string): Result {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || !('schema' in value) || value.schema !== SCHEMA) {
    throw new Error(`${name} is not a result of a bench with the schema ${SCHEMA}`);
  }
  return value as Result;
}
