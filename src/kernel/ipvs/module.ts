import { ProgramError, runProgram } from '../programs/index.ts';

const TIMEOUT_MS = 10_000;

/**
 * Loads the kernel module ip_vs. Only some kernels load it when a process asks for its generic netlink family. If the
 * module is built in, or if only the host may load modules, modprobe fails or is missing. That is no error here: the
 * next request to ip_vs fails if the module is really missing.
 */
export async function loadIpvs(): Promise<void> {
  try {
    await runProgram('modprobe', ['-q', 'ip_vs'], { timeoutMs: TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
  }
}
