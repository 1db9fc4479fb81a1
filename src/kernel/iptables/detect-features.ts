import { InputFile, type ProgramResult } from '../programs/index.ts';
import { IptablesError } from './iptables-error.ts';
import type { Runner } from './runner.ts';
import {
  featuresOf,
  hasRestoreWaitSeconds,
  type IptablesFeatures,
  type IptablesVersion,
  parseVersion,
} from './version.ts';

const TIMEOUT_MS = 10_000;

/** Asks the programs for their version. A program that is missing or fails has an unknown version. */
export async function detectFeatures(
  runner: Runner,
  program: string,
): Promise<IptablesVersion & { features: IptablesFeatures }> {
  const version = parseVersion(await readVersion(runner, program));
  const restorePrintsVersion =
    hasRestoreWaitSeconds(version.version) ||
    parseVersion(await readVersion(runner, `${program}-restore`)).version !== undefined;
  return { ...version, features: featuresOf(version, restorePrintsVersion) };
}

/** An iptables-restore that does not know the option restores its input, so the input is empty. */
async function readVersion(runner: Runner, program: string): Promise<string> {
  const input = InputFile.create('');
  const timeoutMs = Math.min(TIMEOUT_MS, runner.options.timeoutMs ?? TIMEOUT_MS);
  try {
    const { stdout, stderr }: ProgramResult = await runner.run(program, ['--version'], { input, timeoutMs });
    return stdout + stderr;
  } catch (error) {
    if (error instanceof IptablesError) return '';
    throw error;
  } finally {
    input.close();
  }
}
