import { InputFile, type ProgramResult } from '../programs/index.ts';
import { IptablesError } from './iptables-error.ts';
import type { Runner } from './runner.ts';
import { featuresOf, type IptablesFeatures, type IptablesVersion, knowsRestoreWait, parseVersion } from './version.ts';

const TIMEOUT_MS = 10_000;

/** Asks the programs which version they are. One that is missing or fails counts as of unknown version. */
export async function detect(
  runner: Runner,
  program: string,
): Promise<IptablesVersion & { features: IptablesFeatures }> {
  const version = parseVersion(await ask(runner, program));
  const known = knowsRestoreWait(version.version);
  const restoreSaysVersion = known || parseVersion(await ask(runner, `${program}-restore`)).version !== undefined;
  return { ...version, features: featuresOf(version, restoreSaysVersion) };
}

/** A restore that does not know the option restores its input, so that is empty. */
async function ask(runner: Runner, program: string): Promise<string> {
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
