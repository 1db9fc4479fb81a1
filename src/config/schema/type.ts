import type { Node, Plain } from '../../lib/document/index.ts';

/**
 * Reads and writes the values of a field. As in Go, a value is read into the existing value: if a JSON text has a
 * section twice, the fields of the second are added to those of the first.
 */
export interface Type<T> {
  /** The Go name of the type, for messages. */
  readonly name: string;
  readonly zero: T;
  read(node: Node, into: T, at: Place): T;
  /** Returns undefined if the field is to be left out. */
  write(value: T): Plain | undefined;
}

export type ValueOf<S> = S extends Type<infer T> ? T : never;

/** The place of a value in the file, and the collector of findings. */
export interface Place {
  readonly findings: Findings;
  /** The innermost struct, for messages. */
  readonly struct: string;
  /** The names of the fields that lead to the value, outermost first. */
  readonly fields: readonly string[];
  /** The path for strict findings: `logging.vmodule[0]`. */
  readonly path: string;
}

/** A file that cannot be decoded. The message is kube-proxy's. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/** Limits the length of the message. */
const MAX_STRICT_FINDINGS = 100;

/**
 * Collects what is wrong with a file. A wrong type does not end the reading, because an invalid duration later in the
 * file takes precedence in kube-proxy's error.
 */
export class Findings {
  readonly strict = new Set<string>();
  #wrongType: string | undefined;

  /** Throws a DecodeError for the first wrong type, if there is one. */
  throwWrongType(): void {
    if (this.#wrongType !== undefined) throw new DecodeError(this.#wrongType);
  }

  addWrongType(message: string): void {
    this.#wrongType ??= message;
  }

  addStrict(finding: string): void {
    if (this.strict.size < MAX_STRICT_FINDINGS) this.strict.add(finding);
  }
}

/** Reports a wrong type. Null is not a wrong type: it leaves the existing value. */
export function refuse<T>(node: Node, name: string, into: T, at: Place, shown?: string): T {
  if (node.kind !== 'null') at.findings.addWrongType(wrongTypeText(node, name, at, shown));
  return into;
}

export function wrongTypeText(
  node: Node,
  type: string,
  at: Pick<Place, 'fields' | 'struct'>,
  shown: string = node.kind,
): string {
  const target = at.fields.length > 0 ? `struct field ${at.struct}.${at.fields.join('.')}` : 'value';
  return `json: cannot unmarshal ${shown} into Go ${target} of type ${type}`;
}
