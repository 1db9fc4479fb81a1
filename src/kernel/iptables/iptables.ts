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
import { type ChainUses, ChainUsesParser, nftChainUses, nftGeneration } from './chain-uses.ts';
import { detect } from './detect.ts';
import { IptablesError } from './iptables-error.ts';
import { OTHER_PROBLEM, saysExists, saysNotFound } from './problem.ts';
import { holdsRule } from './rule-match.ts';
import { Runner, type RunnerOptions } from './runner.ts';
import { parseSave } from './save.ts';
import type { Backend, IptablesFeatures, IptablesVersion } from './version.ts';
import { XtablesLock } from './xtables-lock.ts';

export interface IptablesOptions extends RunnerOptions {
  /** Another program than the family's own, `iptables-legacy`; with -save and -restore its siblings. */
  readonly program?: string | undefined;
  /** How long the programs wait for the xtables lock. */
  readonly waitSeconds?: number | undefined;
  /** One program at a time runs of all that share these. The legacy programs of both families have one lock. */
  readonly turns?: Turns | undefined;
}

/** The iptables programs of one family. */
export class Iptables {
  readonly family: IptablesFamily;
  readonly program: string;
  /** `1.8.9`, undefined if the program did not say. */
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

  /** Finds out what the programs can do. That they are missing is not an error here: ask `unavailable`. */
  static async open(family: IptablesFamily, options: IptablesOptions = {}): Promise<Iptables> {
    const program = options.program ?? programOf(family);
    const runner = new Runner(options);
    return new Iptables(family, program, await detect(runner, program), runner, options);
  }

  /** Why the family cannot be used: no program, no kernel support, no permission. Undefined if it can be. */
  async unavailable(): Promise<IptablesError | undefined> {
    try {
      await this.#turns.take(() => this.#command('-S', 'nat', 'POSTROUTING'));
      return undefined;
    } catch (error) {
      if (error instanceof IptablesError) return error;
      throw error;
    }
  }

  /** Throws if the answer is not known, as when the lock cannot be had. */
  chainExists(table: string, chain: string): Promise<boolean> {
    return this.#turns.take(async () => {
      const { status } = await this.#command('-S', table, chain, [], [0, OTHER_PROBLEM]);
      return status === 0;
    });
  }

  /** Says whether the chain was made, rather than there already. */
  ensureChain(table: string, chain: string): Promise<boolean> {
    return this.#turns.take(() => this.#did(saysExists, '-N', table, chain));
  }

  /** Says whether there was such a chain. */
  flushChain(table: string, chain: string): Promise<boolean> {
    return this.#turns.take(() => this.#did(saysNotFound, '-F', table, chain));
  }

  /** Says whether there was such a chain. One that has rules or is jumped to cannot be deleted. */
  deleteChain(table: string, chain: string): Promise<boolean> {
    return this.#turns.take(() => this.#did(saysNotFound, '-X', table, chain));
  }

  /** Says whether the rule was added. One that is there already stays where it is. */
  ensureRule(position: RulePosition, table: string, chain: string, rule: readonly string[]): Promise<boolean> {
    return this.#turns.take(async () => {
      if (await this.#hasRule(table, chain, rule)) return false;
      await this.#command(position === 'append' ? '-A' : '-I', table, chain, rule);
      return true;
    });
  }

  ruleExists(table: string, chain: string, rule: readonly string[]): Promise<boolean> {
    return this.#turns.take(() => this.#hasRule(table, chain, rule));
  }

  /** Deletes the first such rule. Says whether there was one; where the chain or the target is missing there is none. */
  deleteRule(table: string, chain: string, rule: readonly string[]): Promise<boolean> {
    return this.#turns.take(() => this.#did(saysNotFound, '-D', table, chain, rule));
  }

  /** A number that changes with every change of rules, by whomever; undefined for the legacy backend, which has none. */
  generation(): number | undefined {
    return this.backend === 'nf_tables' ? nftGeneration(this.#runner.options.namespace) : undefined;
  }

  /**
   * All chains, and how often each is used. What the nf_tables backend holds is asked of the kernel, for iptables-save takes
   * seconds where chains are many. Nothing is created: iptables-save of one table would make that table.
   */
  chainUses(): Promise<ChainUses> {
    return this.#turns.take(async () => {
      if (this.backend === 'nf_tables') return nftChainUses(this.family, this.#runner.options.namespace);
      const parser = new ChainUsesParser();
      await this.#runner.run(`${this.program}-save`, [], { onStdout: chunk => parser.write(chunk) });
      return parser.end();
    });
  }

  /** The text of one table, or of all that exist. */
  save(table?: string): Promise<string> {
    return this.#turns.take(() => this.#save(table));
  }

  /** Hands the text on in pieces as it comes, so that it is never held as a whole. */
  async saveInto(take: (chunk: Uint8Array) => void, table?: string): Promise<void> {
    await this.#turns.take(() => this.#runner.run(`${this.program}-save`, saveArguments(table), { onStdout: take }));
  }

  /** All or nothing of each table in the input. The lines that are to blame for a failure are in the error. */
  async restore(input: ProgramInput, options?: RestoreOptions): Promise<void> {
    const file = InputFile.create(input);
    try {
      await this.#turns.take(() => this.#restore(file, options));
    } finally {
      file.close();
    }
  }

  /** The command that `restore` runs, to be printed. */
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
      await this.#runner.run(`${this.program}-restore`, args, { input, locks: !lock && backend === 'legacy' });
    } finally {
      lock?.release();
    }
  }

  async #save(table: string | undefined): Promise<string> {
    return (await this.#runner.run(`${this.program}-save`, saveArguments(table))).stdout;
  }

  async #hasRule(table: string, chain: string, rule: readonly string[]): Promise<boolean> {
    if (this.features.check) return (await this.#command('-C', table, chain, rule, [0, OTHER_PROBLEM])).status === 0;
    const saved = parseSave(await this.#save(table))
      .get(table)
      ?.get(chain);
    return saved !== undefined && holdsRule(saved, rule);
  }

  /** Runs a command that had nothing to do if it fails with words that `alreadySo` knows. */
  async #did(
    alreadySo: (stderr: string) => boolean,
    command: Command,
    table: string,
    chain: string,
    rule?: readonly string[],
  ): Promise<boolean> {
    try {
      await this.#command(command, table, chain, rule);
      return true;
    } catch (error) {
      if (error instanceof IptablesError && alreadySo(error.stderr)) return false;
      throw error;
    }
  }

  #command(command: Command, table: string, chain: string, rule: readonly string[] = [], okStatuses = [0]) {
    const args = commandArguments(this.features, this.#waitSeconds, command, table, chain, rule);
    return this.#runner.run(this.program, args, { okStatuses, locks: this.backend === 'legacy' });
  }
}
