import type { Assembled } from './assemble.ts';
import { BtfWriter } from './btf-writer.ts';
import { bytesOf, struct, u32 } from './struct.ts';
import { StructBytes } from './struct-bytes.ts';

/** `struct bpf_func_info`: which function begins at an instruction. */
const FunctionInfo = struct({ instruction: u32, type: u32 });
/** `struct bpf_line_info`: which source line begins at an instruction. `line` has the column in its lower 10 bits. */
const LineInfo = struct({ instruction: u32, file: u32, text: u32, line: u32 });

const COLUMN_BITS = 10;

export const FUNCTION_BYTES = bytesOf(FunctionInfo);
export const LINE_BYTES = bytesOf(LineInfo);

export interface SourceLines {
  /** Type information, with the texts. */
  readonly types: Buffer;
  readonly functions: Buffer;
  readonly lines: Buffer;
}

/** Makes the notes of a program its source lines. The kernel wants one for the first instruction. */
export function encodeSourceLines(name: string, file: string, notes: Assembled['notes']): SourceLines {
  const btf = new BtfWriter();
  const main = btf.func(name.replaceAll(/\W/g, '_'), btf.int('int', 4, true));
  const all = notes[0]?.index === 0 ? notes : [{ index: 0, text: name }, ...notes];
  const fileName = btf.text(file);
  const lines = all.map(({ index, text }, i) => {
    const values = { instruction: index, file: fileName, text: btf.text(text), line: (i + 1) << COLUMN_BITS };
    return new StructBytes(LineInfo, values).bytes;
  });
  const functions = new StructBytes(FunctionInfo, { type: main }).bytes;
  return { types: btf.bytes(), functions, lines: Buffer.concat(lines) };
}
