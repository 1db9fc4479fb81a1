import {
  type DecodedItem,
  decodeObjects,
  type FieldPath,
  type FieldProblem,
  type KubeObject,
  type ObjectIdentity,
  objectKey,
} from '../api/index.ts';
import type { Problem } from '../lib/problem.ts';
import { DEFAULT_NAMESPACE, withDefaults } from './defaults.ts';
import { MAX_YAML_BYTES, type ParsedDocument, type Position, parseJsonDocument, parseYaml } from './parse-documents.ts';
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
    builder.breakOff(`is not JSON, and too long for YAML (the limit is ${MAX_YAML_BYTES >> 20} MiB): split it`);
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

function addItem(
  { result, path }: DecodedItem,
  locate: (path: FieldPath) => Position | undefined,
  builder: FileBuilder,
): void {
  switch (result.kind) {
    case 'ignored':
      return;
    case 'problems': {
      const subject = result.subject && withNamespace(result.subject);
      const named = { kind: subject?.kind, object: subject && manifestKey(subject) };
      for (const problem of result.problems) builder.addProblem(problem, locate([...path, ...problem.path]), named);
      return;
    }
    case 'object': {
      const object = withDefaults(result.object);
      const key = manifestKey({ kind: object.kind, ...object.metadata });
      const problems = validateManifest(object, builder.rules);
      const named = { kind: object.kind, object: key };
      for (const problem of problems) builder.addProblem(problem, locate([...path, ...problem.path]), named);
      if (problems.length === 0) builder.addObject(key, object, locate(path));
    }
  }
}

function withNamespace(subject: ObjectIdentity): ObjectIdentity {
  const isNamespaced = subject.kind === 'Service' || subject.kind === 'EndpointSlice';
  return isNamespaced && subject.namespace === '' ? { ...subject, namespace: DEFAULT_NAMESPACE } : subject;
}

class FileBuilder {
  readonly rules: ManifestRules;
  readonly #path: string;
  readonly #manifests = new Map<string, Manifest>();
  readonly #problems: Problem[] = [];
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

  addProblem(
    { field, message }: FieldProblem,
    position: Position | undefined,
    named: Pick<Problem, 'kind' | 'object'>,
  ): void {
    this.#problems.push({ where: this.#where(position), ...named, field, message });
  }

  breakOff(message: string, position?: Position): void {
    this.#isBroken = true;
    this.#problems.push({ where: this.#where(position), reason: 'unreadable', message });
  }

  build(): ManifestFile {
    return { manifests: this.#manifests, problems: this.#problems, isBroken: this.#isBroken };
  }

  #where(position: Position | undefined): string {
    return position ? `${this.#path}:${position.line}:${position.column}` : this.#path;
  }
}
