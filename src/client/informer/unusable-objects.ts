import { type DecodeResult, objectKey } from '../../api/index.ts';
import type { InformerReporter } from './reporter.ts';
import { objectPath, objectTitle, type Resource } from './resource.ts';

/** Limits memory if a server sends objects without names. */
const MAX_NAMELESS = 100;

type Unusable = Exclude<DecodeResult, { readonly kind: 'object' }>;

/** The objects that cannot be used. Reports all problems of an object once, until they change or the object is gone. */
export class UnusableObjects {
  readonly #resource: Resource;
  readonly #reporter: InformerReporter;
  /** The reported problems of each object, as one text, and the object's path. */
  readonly #reported = new Map<string, { readonly text: string; readonly path: string }>();
  /** The reported problems of objects without a name. No later event can say that such an object is good again. */
  readonly #reportedNameless = new Set<string>();

  constructor(resource: Resource, reporter: InformerReporter) {
    this.#resource = resource;
    this.#reporter = reporter;
  }

  keys(): Iterable<string> {
    return this.#reported.keys();
  }

  /** Returns the key of the object, if it has a name. */
  add(unusable: Unusable): string | undefined {
    const subject = unusable.kind === 'problems' ? unusable.subject : undefined;
    const problems = unusable.kind === 'problems' ? unusable.problems : [this.#otherKind(unusable.ignored)];
    const key = subject && objectKey(subject);
    const where = subject ? objectPath(this.#resource, subject) : this.#resource.path;
    const text = problems.map(({ field, message }) => `${field} ${message}`).join('\n');
    if (this.#isReported(key, text)) return key;
    if (key === undefined) this.#reportedNameless.add(text);
    else this.#reported.set(key, { text, path: where });
    const object = subject ? objectTitle(this.#resource, subject) : this.#resource.kind;
    for (const { field, message } of problems) {
      this.#reporter.objectUnusable({
        where,
        kind: this.#resource.kind,
        object,
        field: field === '' ? undefined : field,
        message,
      });
    }
    return key;
  }

  /** The object is good again, or gone. */
  delete(key: string): void {
    const reported = this.#reported.get(key);
    if (!reported) return;
    this.#reported.delete(key);
    this.#reporter.objectRecovered(reported.path);
  }

  #otherKind(kind: string) {
    return { field: 'kind', message: `is ${kind}, but must be ${this.#resource.kind}` };
  }

  #isReported(key: string | undefined, text: string): boolean {
    if (key !== undefined) return this.#reported.get(key)?.text === text;
    return this.#reportedNameless.has(text) || this.#reportedNameless.size >= MAX_NAMELESS;
  }
}
