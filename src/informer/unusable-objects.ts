import { type DecodeResult, objectKey } from '../api/index.ts';
import type { InformerReport } from './report.ts';
import { objectPath, objectTitle, type Resource } from './resource.ts';

type Unusable = Exclude<DecodeResult, { readonly kind: 'object' }>;

/** Which objects cannot be used. Each is told with all its problems, once, until it changes or is gone. */
export class UnusableObjects {
  readonly #resource: Resource;
  readonly #report: InformerReport;
  /** What was told of an object, and where it is. */
  readonly #told = new Map<string, { readonly text: string; readonly where: string }>();

  constructor(resource: Resource, report: InformerReport) {
    this.#resource = resource;
    this.#report = report;
  }

  keys(): Iterable<string> {
    return this.#told.keys();
  }

  /** The key of the object, if it could be told. */
  note(unusable: Unusable): string | undefined {
    const { path, kind } = this.#resource;
    if (unusable.kind === 'ignored') {
      this.#report.problem({ where: path, message: `brought a ${unusable.ignored}, but a ${kind} was asked for` });
      return undefined;
    }
    const { problems, subject } = unusable;
    const where = subject ? objectPath(this.#resource, subject) : path;
    const key = subject && objectKey(subject);
    const text = problems.map(({ field, message }) => `${field} ${message}`).join('\n');
    if (key !== undefined && this.#told.get(key)?.text === text) return key;
    if (key !== undefined) this.#told.set(key, { text, where });
    const object = subject && objectTitle(this.#resource, subject);
    for (const { field, message } of problems) {
      this.#report.problem({ where, object, field: field === '' ? undefined : field, message });
    }
    return key;
  }

  /** The object is well, or gone. */
  forget(key: string): void {
    const told = this.#told.get(key);
    if (!told) return;
    this.#told.delete(key);
    this.#report.recovered(told.where);
  }
}
