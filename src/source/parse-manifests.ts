import {
  type DecodedItem,
  decodeObjects,
  type FieldProblem,
  type KubeObject,
  type ObjectIdentity,
  objectKey,
} from '../api/index.ts';
import type { Problem } from '../lib/problem.ts';
import { DEFAULT_NAMESPACE, withDefaults } from './defaults.ts';
import { doubtfulFields } from './doubtful-fields.ts';
import { mistypedKind } from './mistyped-kind.ts';
import {
  type Locate,
  MAX_YAML_BYTES,
  type ParsedDocument,
  type Position,
  parseJsonDocument,
  parseYaml,
} from './parse-documents.ts';
import { unknownFields } from './unknown-fields.ts';
import { DEFAULT_RULES, type ManifestRules } from './validate-addresses.ts';
import { validateManifest } from './validate-manifest.ts';

/** An object and the place that it was read from. */
export interface Manifest {
  /** `Service default/web` */
  readonly key: string;
  readonly object: KubeObject;
  /** `folder/web.yaml:3:1` */
  readonly where: string;
}

export interface ManifestFile {
  readonly manifests: ReadonlyMap<string, Manifest>;
  readonly problems: readonly Problem[];
  /** The kinds of the objects that a proxy does not use: `Deployment.apps`. */
  readonly ignored: readonly string[];
  /** The text could not be parsed to its end. The file may have further objects. */
  readonly isBroken: boolean;
}

export function manifestKey({ kind, namespace, name }: ObjectIdentity): string {
  return `${kind} ${namespace === '' ? name : objectKey({ namespace, name })}`;
}

/** Parses the text of a file. Never throws. */
export async function parseManifests(
  text: string,
  path: string,
  rules: ManifestRules = DEFAULT_RULES,
): Promise<ManifestFile> {
  const builder = new FileBuilder(path, rules);
  const json = parseJsonDocument(text);
  if (json) return addDocument(json, builder).build();
  if (text.length > MAX_YAML_BYTES) {
    builder.breakOff(
      `is not JSON, and too long for YAML (the limit is ${MAX_YAML_BYTES >> 20} MiB): split it, or write it as JSON`,
    );
    return builder.build();
  }
  for await (const document of parseYaml(text)) addDocument(document, builder);
  return builder.build();
}

function addDocument(document: ParsedDocument, builder: FileBuilder): FileBuilder {
  if (document.kind === 'error') {
    builder.breakOff(document.message, document.position);
    return builder;
  }
  for (const item of decodeObjects(document.value)) addItem(item, document.locate, builder);
  return builder;
}

function addItem({ result, path, value }: DecodedItem, locate: Locate, builder: FileBuilder): void {
  const add = (problems: readonly FieldProblem[], named: Named, part: 'value' | 'name' = 'value') => {
    for (const problem of problems) builder.addProblem(problem, locate([...path, ...problem.path], part), named);
  };
  switch (result.kind) {
    case 'ignored': {
      const problem = mistypedKind(value);
      if (problem) add([problem], {});
      else builder.ignore(result.ignored);
      return;
    }
    case 'problems': {
      const subject = result.subject && withNamespace(result.subject);
      const named = { kind: subject?.kind, object: subject && manifestKey(subject) };
      // A mistyped name of a field is often the cause of the other problems.
      if (subject) add(unknownFields(value, subject.kind), named, 'name');
      add(result.problems, named);
      return;
    }
    case 'object': {
      const object = withDefaults(result.object);
      const key = manifestKey({ kind: object.kind, ...object.metadata });
      const problems = validateManifest(object, builder.rules);
      const named = { kind: object.kind, object: key };
      add(unknownFields(value, object.kind), named, 'name');
      add(problems.length > 0 ? problems : doubtfulFields(result.object), named);
      if (problems.length === 0) builder.addObject(key, object, locate(path));
    }
  }
}

type Named = Pick<Problem, 'kind' | 'object'>;

function withNamespace(subject: ObjectIdentity): ObjectIdentity {
  const isNamespaced = subject.kind === 'Service' || subject.kind === 'EndpointSlice';
  return isNamespaced && subject.namespace === '' ? { ...subject, namespace: DEFAULT_NAMESPACE } : subject;
}

class FileBuilder {
  readonly rules: ManifestRules;
  readonly #path: string;
  readonly #manifests = new Map<string, Manifest>();
  readonly #problems: Problem[] = [];
  readonly #ignored: string[] = [];
  #isBroken = false;

  constructor(path: string, rules: ManifestRules) {
    this.rules = rules;
    this.#path = path;
  }

  addObject(key: string, object: KubeObject, position: Position | undefined): void {
    const where = this.#where(position);
    const first = this.#manifests.get(key);
    if (!first) this.#manifests.set(key, { key, object, where });
    else
      this.#problems.push({
        where,
        kind: object.kind,
        reason: 'duplicate',
        object: key,
        message: `is also at ${first.where}, which is used: remove one`,
      });
  }

  addProblem({ field, message, reason }: FieldProblem, position: Position | undefined, named: Named): void {
    const sort = reason === undefined ? {} : { reason };
    this.#problems.push({ where: this.#where(position), ...named, ...sort, field, message });
  }

  ignore(kind: string): void {
    this.#ignored.push(kind);
  }

  breakOff(message: string, position?: Position): void {
    this.#isBroken = true;
    this.#problems.push({ where: this.#where(position), reason: 'unreadable', message });
  }

  build(): ManifestFile {
    return { manifests: this.#manifests, problems: this.#problems, ignored: this.#ignored, isBroken: this.#isBroken };
  }

  #where(position: Position | undefined): string {
    return position ? `${this.#path}:${position.line}:${position.column}` : this.#path;
  }
}
