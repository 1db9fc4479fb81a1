import { close } from '../libc.ts';
import { type Assembled, withMaps } from './assemble.ts';
import { BtfWriter, loadBtf } from './btf.ts';
import { Attributes, bpfError, tryBpf } from './system-call.ts';

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

const LICENSE = Buffer.from('GPL\0');
const LOG_BYTES = 1 << 22;
/** The last lines say what the verifier does not accept. */
const LOG_LINES = 12;

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
    const lines = lineInformation(spec);
    const btf = loadBtf(lines.types);
    try {
      const first = tryBpf('PROG_LOAD', attributesOf(spec, code, lines, btf));
      if (typeof first === 'number') return new BpfProgram(first, spec.hook);
      // Only now: the log costs several milliseconds.
      const log = Buffer.alloc(LOG_BYTES);
      const second = tryBpf(
        'PROG_LOAD',
        attributesOf(spec, code, lines, btf).u32(24, 1).u32(28, log.length).pointer(32, log),
      );
      if (typeof second === 'number') return new BpfProgram(second, spec.hook);
      throw bpfError('PROG_LOAD', spec.name, first.errno, lastLines(log));
    } finally {
      close(btf);
    }
  }

  close(): void {
    close(this.fd);
  }
}

interface LineInformation {
  readonly types: Buffer;
  readonly functions: Buffer;
  readonly lines: Buffer;
}

function attributesOf(spec: ProgramSpec, code: Buffer, { functions, lines }: LineInformation, btf: number): Attributes {
  const { type, attach } = HOOKS[spec.hook];
  const attributes = new Attributes(144)
    .u32(0, type)
    .u32(4, code.length / 8)
    .pointer(8, code)
    .pointer(16, LICENSE);
  attributes.name(48, spec.name).u32(68, attach).u32(72, btf);
  attributes
    .u32(76, 8)
    .pointer(80, functions)
    .u32(88, functions.length / 8);
  attributes
    .u32(92, 16)
    .pointer(96, lines)
    .u32(104, lines.length / 16);
  return attributes.u32(108, spec.attachBtfId ?? 0);
}

/** The notes, as source lines. */
function lineInformation({ name, file, assembled }: ProgramSpec): LineInformation {
  const btf = new BtfWriter();
  const main = btf.func(name.replaceAll(/\W/g, '_'), btf.int('int', 4, true));
  const notes = assembled.notes[0]?.index === 0 ? assembled.notes : [{ index: 0, text: name }, ...assembled.notes];
  const lines = Buffer.alloc(notes.length * 16);
  const fileName = btf.text(file);
  for (const [i, { index, text }] of notes.entries()) {
    for (const [word, value] of [index, fileName, btf.text(text), (i + 1) << 10].entries()) {
      lines.writeUInt32LE(value, i * 16 + word * 4);
    }
  }
  const functions = Buffer.alloc(8);
  functions.writeUInt32LE(main, 4);
  return { types: btf.bytes(), functions, lines };
}

function lastLines(log: Buffer): string {
  const [text = ''] = log.toString('latin1').split('\0', 1);
  return text.trimEnd().split('\n').slice(-LOG_LINES).join('\n');
}
