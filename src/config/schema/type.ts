import type { Node, Plain } from '../../lib/document/index.ts';

/**
 * How a field is read and written. Values are read into what is there already, as Go does it: of a section that a JSON text has
 * twice, the second adds to the first.
 */
export interface Type<T> {
  /** What Go calls it, for messages. */
  readonly name: string;
  readonly zero: T;
  read(node: Node, into: T, at: Place): T;
  /** Undefined where a field is left out. */
  write(value: T): Plain | undefined;
}

export type ValueOf<S> = S extends Type<infer T> ? T : never;

/** Where a value stands, and what is found on the way. */
export interface Place {
  readonly findings: Findings;
  /** The innermost struct, for messages. */
  readonly struct: string;
  /** Names of fields, from the top. */
  readonly fields: readonly string[];
  /** As strict findings write it: `logging.vmodule[0]`. */
  readonly path: string;
}

/** A file that cannot be used. The message has the words of kube-proxy. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/** More findings than these help nobody. */
const MOST_STRICT = 100;

/** Wrong types do not end the reading: a duration that cannot be read, wherever it is, is told rather than they. */
export class Findings {
  readonly strict = new Set<string>();
  #wrongType: string | undefined;

  /** Throws the first wrong type, if there was one. */
  end(): void {
    if (this.#wrongType !== undefined) throw new DecodeError(this.#wrongType);
  }

  addWrongType(message: string): void {
    this.#wrongType ??= message;
  }

  addStrict(finding: string): void {
    if (this.strict.size < MOST_STRICT) this.strict.add(finding);
  }
}

export function wrongType(
  node: Node,
  type: string,
  at: Pick<Place, 'fields' | 'struct'>,
  shown: string = node.kind,
): string {
  const target = at.fields.length > 0 ? `struct field ${at.struct}.${at.fields.join('.')}` : 'value';
  return `json: cannot unmarshal ${shown} into Go ${target} of type ${type}`;
}
