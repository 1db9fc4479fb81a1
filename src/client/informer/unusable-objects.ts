import { type DecodeResult, objectKey } from '../../api/index.ts';
import type { InformerReport } from './report.ts';
import { objectPath, objectTitle, type Resource } from './resource.ts';

/** What a server invents that sends objects without a name does not fill our memory. */
const MOST_NAMELESS = 100;

type Unusable = Exclude<DecodeResult, { readonly kind: 'object' }>;

/** Which objects cannot be used. Each is told with all its problems, once, until it changes or is gone. */
export class UnusableObjects {
  readonly #resource: Resource;
  readonly #report: InformerReport;
  /** What was told of an object, and where it is. */
  readonly #told = new Map<string, { readonly text: string; readonly where: string }>();
  /** What was told of objects without a name; nobody can say when they are well. */
  readonly #nameless = new Set<string>();

  constructor(resource: Resource, report: InformerReport) {
    this.#resource = resource;
    this.#report = report;
  }

  keys(): Iterable<string> {
    return this.#told.keys();
  }

  /** The key of the object, if it has one. */
  note(unusable: Unusable): string | undefined {
    const subject = unusable.kind === 'problems' ? unusable.subject : undefined;
    const problems = unusable.kind === 'problems' ? unusable.problems : [this.#otherKind(unusable.ignored)];
    const key = subject && objectKey(subject);
    const where = subject ? objectPath(this.#resource, subject) : this.#resource.path;
    const text = problems.map(({ field, message }) => `${field} ${message}`).join('\n');
    if (!this.#isNews(key, text, where)) return key;
    const object = subject ? objectTitle(this.#resource, subject) : this.#resource.kind;
    for (const { field, message } of problems) {
      this.#report.unusable({ where, object, field: field === '' ? undefined : field, message });
    }
    return key;
  }

  #otherKind(kind: string) {
    return { field: 'kind', message: `is ${kind}, but ${this.#resource.kind} was asked for` };
  }

  #isNews(key: string | undefined, text: string, where: string): boolean {
    if (key === undefined) {
      if (this.#nameless.has(text) || this.#nameless.size >= MOST_NAMELESS) return false;
      this.#nameless.add(text);
      return true;
    }
    if (this.#told.get(key)?.text === text) return false;
    this.#told.set(key, { text, where });
    return true;
  }

  /** The object is well, or gone. */
  forget(key: string): void {
    const told = this.#told.get(key);
    if (!told) return;
    this.#told.delete(key);
    this.#report.usable(told.where);
  }
}
