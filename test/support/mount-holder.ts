import { spawn } from 'node:child_process';
import { HeldProcess } from './held-process.ts';

/** Mounts a bpffs where programs expect it, says so, and lives until its input ends, also after Ctrl-C. */
const MOUNT = 'trap "" INT; mount -t bpf bpf /sys/fs/bpf && echo mounted && read -r line';

/** A process with mounts of its own, which other processes can enter. The mounts and all pins end with them. */
export class MountHolder {
  readonly #held: HeldProcess;

  private constructor(held: HeldProcess) {
    this.#held = held;
  }

  static async withBpffs(): Promise<MountHolder> {
    const args = ['--mount', '--propagation', 'private', 'sh', '-c', MOUNT];
    return new MountHolder(await HeldProcess.of(spawn('unshare', args, { stdio: ['pipe', 'pipe', 'inherit'] })));
  }

  /** The command, as a process with these mounts. */
  command(...command: readonly string[]): readonly string[] {
    return ['nsenter', '--target', `${this.#held.pid}`, `--mount`, `--wd=${process.cwd()}`, '--', ...command];
  }

  close(): Promise<void> {
    return this.#held.close();
  }
}
