import { close, withoutSignals } from '../libc.ts';
import { type Assembled, INSTRUCTION_BYTES, withMaps } from './assemble.ts';
import { loadBtf } from './btf-load.ts';
import { bpfError } from './error.ts';
import { objectName } from './object-info.ts';
import { encodeSourceLines, FUNCTION_BYTES, LINE_BYTES, type SourceLines } from './source-lines.ts';
import { untilZero } from './struct-bytes.ts';
import { type Answer, callBpf } from './system-call.ts';

/** Where a program is attached, with the type of programs there, as in `linux/bpf.h`. */
export const HOOKS = {
  connect4: { type: 18, attach: 10 },
  connect6: { type: 18, attach: 11 },
  getpeername4: { type: 18, attach: 29 },
  getpeername6: { type: 18, attach: 30 },
  release: { type: 9, attach: 34 },
  iterator: { type: 26, attach: 28 },
} as const;
export type Hook = keyof typeof HOOKS;

export interface ProgramSpec {
  /** The kernel shows the first 15 characters. */
  readonly name: string;
  readonly hook: Hook;
  readonly assembled: Assembled;
  /** The file that the verifier's log names. */
  readonly file: string;
  /** The kernel's own function that an iterator implements, by its number in the kernel's BTF. */
  readonly attachBtfId?: number | undefined;
}

/** The kernel offers some of its functions only to programs with this license. */
const LICENSE = Buffer.from('GPL\0');
const LOG_BYTES = 1 << 22;
/** The last lines say what the verifier does not accept. */
const LOG_LINES = 12;
const MAX_RETRIES = 10;

/** A program that the verifier accepted, held by a descriptor. */
export class BpfProgram {
  readonly fd: number;
  readonly hook: Hook;

  private constructor(fd: number, hook: Hook) {
    this.fd = fd;
    this.hook = hook;
  }

  /** Throws a KernelError with the verifier's last lines. */
  static load(spec: ProgramSpec, descriptor: (map: string) => number): BpfProgram {
    const code = withMaps(spec.assembled, descriptor);
    const lines = encodeSourceLines(spec.name, spec.file, spec.assembled.notes);
    const btf = loadBtf(lines.types);
    try {
      const first = load(spec, code, lines, btf);
      if (first.errno === undefined) return new BpfProgram(first.result, spec.hook);
      // Only now: the log costs several milliseconds.
      const log = Buffer.alloc(LOG_BYTES);
      const second = load(spec, code, lines, btf, log);
      if (second.errno === undefined) return new BpfProgram(second.result, spec.hook);
      throw bpfError('PROG_LOAD', spec.name, first.errno, {
        kernelMessage: lastLines(log),
        capabilities: spec.hook === 'iterator' ? ['CAP_BPF', 'CAP_PERFMON'] : undefined,
      });
    } finally {
      close(btf);
    }
  }

  close(): void {
    close(this.fd);
  }
}

function load(
  { name, hook, attachBtfId }: ProgramSpec,
  code: Buffer,
  { functions, lines }: SourceLines,
  btf: number,
  log?: Buffer,
): Answer<string> {
  const attributes = {
    type: HOOKS[hook].type,
    attachType: HOOKS[hook].attach,
    attachBtfId,
    name: objectName(name),
    license: LICENSE,
    instructions: code,
    instructionCount: code.length / INSTRUCTION_BYTES,
    btf,
    functions,
    functionSize: FUNCTION_BYTES,
    functionCount: functions.length / FUNCTION_BYTES,
    lines,
    lineSize: LINE_BYTES,
    lineCount: lines.length / LINE_BYTES,
    log,
    logSize: log?.length,
    logLevel: log && 1,
  };
  // The verifier gives up if the thread gets a signal meanwhile. A profiler may send one every 50 µs.
  let answer = withoutSignals(() => callBpf('PROG_LOAD', attributes));
  // The kernel may still interrupt the thread, for example to freeze its container.
  for (let retries = 0; answer.errno === 'EAGAIN' && retries < MAX_RETRIES; retries++) {
    answer = withoutSignals(() => callBpf('PROG_LOAD', attributes));
  }
  return answer;
}

function lastLines(log: Buffer): string {
  return untilZero(log).trimEnd().split('\n').slice(-LOG_LINES).join('\n');
}
