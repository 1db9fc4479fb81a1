import { Turns } from '../../lib/turns.ts';
import { commandLine, InputFile, type ProgramInput } from '../programs/index.ts';
import {
  type Command,
  commandArguments,
  type IptablesFamily,
  programOf,
  type RestoreOptions,
  type RulePosition,
  restoreArguments,
  saveArguments,
} from './arguments.ts';
import { ChainListingParser, existingNftTables, type KeepRule } from './chain-listing.ts';
import { type ChainUses, ChainUsesParser, nftChainUses, nftGeneration } from './chain-uses.ts';
import { detectFeatures } from './detect-features.ts';
import { OTHER_PROBLEM, saysExists, saysNotFound } from './failure-kind.ts';
import { IptablesError } from './iptables-error.ts';
import { type CountedRule, RuleCounterParser } from './rule-counters.ts';
import { holdsRule } from './rule-match.ts';
import { Runner, type RunnerOptions } from './runner.ts';
import { type ChainName, parseSave } from './save.ts';
import type { Backend, IptablesFeatures, IptablesVersion } from './version.ts';
import { XtablesLock } from './xtables-lock.ts';

export interface IptablesOptions extends RunnerOptions {
  /** The program to use instead of the family's default: `iptables-legacy`. Also determines its -save and -restore. */
  readonly program?: string | undefined;
  /** How long the programs wait for the xtables lock. */
  readonly waitSeconds?: number | undefined;
  /** Instances that share these run one program at a time. The legacy programs of both families have the same lock. */
  readonly turns?: Turns | undefined;
}

/** The result of `listChains`. */
export type ListedChains = Pick<ChainListingParser, 'listing' | 'isCut'>;

/** The nf_tables program lists this many chains one by one in about the time of iptables-save with 5000 Services. */
const MAX_SINGLE_CHAINS = 100;

/** The iptables programs of one family. */
export class Iptables {
  readonly family: IptablesFamily;
  readonly program: string;
  /** `1.8.9`, or undefined if the program did not print its version. */
  readonly version: string | undefined;
  readonly backend: Backend;
  readonly features: IptablesFeatures;
  readonly #runner: Runner;
  readonly #turns: Turns;
  readonly #waitSeconds: number;

  private constructor(
    family: IptablesFamily,
    program: string,
    detected: IptablesVersion & { features: IptablesFeatures },
    runner: Runner,
    { turns = new Turns(), waitSeconds = 5 }: IptablesOptions,
  ) {
    this.family = family;
    this.program = program;
    this.version = detected.version;
    this.backend = detected.backend;
    this.features = detected.features;
    this.#runner = runner;
    this.#turns = turns;
    this.#waitSeconds = waitSeconds;
  }

  /** Detects the features of the programs. Does not throw if they are missing; `availabilityError` reports that. */
  static async open(family: IptablesFamily, options: IptablesOptions = {}): Promise<Iptables> {
    const program = options.program ?? programOf(family);
    const runner = new Runner(options);
    return new Iptables(family, program, await detectFeatures(runner, program), runner, options);
  }

  /** Why the family is not usable: no program, no kernel support or no permission. Undefined if it is usable. */
  async availabilityError(): Promise<IptablesError | undefined> {
    try {
      await this.#turns.take(() => this.#runCommand('-S', 'nat', 'POSTROUTING'));
      return undefined;
    } catch (error) {
      if (error instanceof IptablesError) return error;
      throw error;
    }
  }

  /** Throws if the answer is unknown, for example because another program holds the lock. */
  chainExists(table: string, chain: string): Promise<boolean> {
    return this.#turns.take(async () => {
      const { status } = await this.#runCommand('-S', table, chain, [], [0, OTHER_PROBLEM]);
      return status === 0;
    });
  }

  /** The rules of one chain in order, each as the text after `-A CHAIN`. Throws if there is no such chain. */
  listRules(table: string, chain: string): Promise<readonly string[]> {
    const head = `-A ${chain} `;
    return this.#turns.take(async () => {
      const { stdout } = await this.#runCommand('-S', table, chain);
      return stdout.split('\n').flatMap(line => (line.startsWith(head) ? [line.slice(head.length)] : []));
    });
  }

  /** Returns true if the chain was created, and false if it existed already. */
  ensureChain(table: string, chain: string): Promise<boolean> {
    return this.#turns.take(() => this.#runIfNeeded(saysExists, '-N', table, chain));
  }

  /** Returns false if there is no such chain. */
  flushChain(table: string, chain: string): Promise<boolean> {
    return this.#turns.take(() => this.#runIfNeeded(saysNotFound, '-F', table, chain));
  }

  /** Returns false if there is no such chain. The kernel refuses if the chain has rules or a rule jumps to it. */
  deleteChain(table: string, chain: string): Promise<boolean> {
    return this.#turns.take(() => this.#runIfNeeded(saysNotFound, '-X', table, chain));
  }

  /** Returns true if the rule was added. An existing rule stays where it is. */
  ensureRule(position: RulePosition, table: string, chain: string, rule: readonly string[]): Promise<boolean> {
    return this.#turns.take(async () => {
      if (await this.#hasRule(table, chain, rule)) return false;
      await this.#runCommand(position === 'append' ? '-A' : '-I', table, chain, rule);
      return true;
    });
  }

  ruleExists(table: string, chain: string, rule: readonly string[]): Promise<boolean> {
    return this.#turns.take(() => this.#hasRule(table, chain, rule));
  }

  /** Deletes the first such rule. Returns false if the rule, its chain or its target does not exist. */
  deleteRule(table: string, chain: string, rule: readonly string[]): Promise<boolean> {
    return this.#turns.take(() => this.#runIfNeeded(saysNotFound, '-D', table, chain, rule));
  }

  /** A number that changes whenever any program changes rules. Undefined for the legacy backend, which has none. */
  generation(): number | undefined {
    return this.backend === 'nf_tables' ? nftGeneration(this.#runner.options.namespace) : undefined;
  }

  /**
   * All chains, and how often each is used. For the nf_tables backend this asks the kernel directly, because
   * iptables-save takes seconds if there are many chains. It creates no table: iptables-save with a table's name would.
   */
  chainUses(): Promise<ChainUses> {
    return this.#turns.take(async () => {
      if (this.backend === 'nf_tables') return nftChainUses(this.family, this.#runner.options.namespace);
      const parser = new ChainUsesParser();
      await this.#runner.run(`${this.program}-save`, [], { onStdout: chunk => parser.write(chunk) });
      return parser.end();
    });
  }

  /** The text of one table, or of all existing tables. */
  save(table?: string): Promise<string> {
    return this.#turns.take(() => this.#save(table));
  }

  /** Passes the text on in pieces as it arrives, so that the whole text is never in memory. */
  async saveInto(onStdout: (chunk: Uint8Array) => void, table?: string): Promise<void> {
    await this.#turns.take(() => this.#runner.run(`${this.program}-save`, saveArguments(table), { onStdout }));
  }

  /** Reads the counters of all rules that counted something. As `listChains`, it waits for no other program. */
  async ruleCounters(onRule: (rule: CountedRule) => void, timeoutMs: number): Promise<void> {
    const parser = new RuleCounterParser(onRule);
    const onStdout = (chunk: Uint8Array) => parser.write(chunk);
    await this.#runner.run(`${this.program}-save`, ['-c'], { onStdout, timeoutMs });
    parser.end();
  }

  /**
   * Lists some chains. It waits for no other program and holds none up: it takes no turn, and neither iptables-save nor
   * the programs of the nf_tables backend take the lock. The legacy program reads a whole table for each chain, so
   * iptables-save is quicker. The nf_tables program reads a single chain, and iptables-save takes seconds there.
   */
  async listChains(wanted: readonly ChainName[], keep: KeepRule, timeoutMs: number): Promise<ListedChains> {
    const parser = new ChainListingParser(wanted, keep);
    const end = performance.now() + timeoutMs;
    const left = () => Math.max(1, Math.round(end - performance.now()));
    const onStdout = (chunk: Uint8Array) => parser.write(chunk);
    if (this.backend === 'legacy' || wanted.length > MAX_SINGLE_CHAINS) {
      await this.#runner.run(`${this.program}-save`, [], { onStdout, timeoutMs: left() });
      parser.flush();
      return parser;
    }
    const tables = existingNftTables(
      this.family,
      wanted.map(({ table }) => table),
      this.#runner.options.namespace,
    );
    for (const { table, chain } of wanted) {
      if (!tables.includes(table)) continue;
      parser.beginTable(table);
      const args = commandArguments(this.features, this.#waitSeconds, '-S', table, chain);
      const okStatuses = [0, OTHER_PROBLEM];
      await this.#runner.run(this.program, args, { onStdout, okStatuses, timeoutMs: left() });
      parser.flush();
    }
    return parser;
  }

  /** Applies each table of the input completely or not at all. The error contains the refused lines. */
  async restore(input: ProgramInput, options?: RestoreOptions): Promise<void> {
    const file = InputFile.create(input);
    try {
      await this.#turns.take(() => this.#restore(file, options));
    } finally {
      file.close();
    }
  }

  /** The command that `restore` runs, as text. */
  restoreCommand(options?: RestoreOptions): string {
    return commandLine(`${this.program}-restore`, restoreArguments(this.features, this.#waitSeconds, options));
  }

  async #restore(input: InputFile, options: RestoreOptions | undefined): Promise<void> {
    const { features, backend } = this;
    const {
      lockFile: file,
      options: { namespace },
    } = this.#runner;
    const lock =
      features.restoreWait === 'none' && backend === 'legacy' ? await XtablesLock.take({ file, namespace }) : undefined;
    try {
      const args = restoreArguments(features, this.#waitSeconds, options);
      await this.#runner.run(`${this.program}-restore`, args, { input, waitsForLock: !lock && backend === 'legacy' });
    } finally {
      lock?.release();
    }
  }

  async #save(table: string | undefined): Promise<string> {
    return (await this.#runner.run(`${this.program}-save`, saveArguments(table))).stdout;
  }

  async #hasRule(table: string, chain: string, rule: readonly string[]): Promise<boolean> {
    if (this.features.check) return (await this.#runCommand('-C', table, chain, rule, [0, OTHER_PROBLEM])).status === 0;
    const saved = parseSave(await this.#save(table))
      .get(table)
      ?.get(chain);
    return saved !== undefined && holdsRule(saved, rule);
  }

  /** Runs a command. Returns false if it fails with a message which says that there is nothing to do. */
  async #runIfNeeded(
    saysNothingToDo: (stderr: string) => boolean,
    command: Command,
    table: string,
    chain: string,
    rule?: readonly string[],
  ): Promise<boolean> {
    try {
      await this.#runCommand(command, table, chain, rule);
      return true;
    } catch (error) {
      if (error instanceof IptablesError && saysNothingToDo(error.stderr)) return false;
      throw error;
    }
  }

  #runCommand(command: Command, table: string, chain: string, rule: readonly string[] = [], okStatuses = [0]) {
    const args = commandArguments(this.features, this.#waitSeconds, command, table, chain, rule);
    return this.#runner.run(this.program, args, { okStatuses, waitsForLock: this.backend === 'legacy' });
  }
}
