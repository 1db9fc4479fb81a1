import {
  type DecodedItem,
  decodeObjects,
  type FieldProblem,
  type KubeObject,
  objectKey,
  type Subject,
} from '../api/index.ts';
import type { Problem } from '../lib/problem.ts';
import { withDefaults } from './defaults.ts';
import { MOST_YAML_BYTES, type ParsedDocument, type Position, parseJson, parseYaml } from './documents.ts';
import { validateManifest } from './validate.ts';

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
  /** The text itself is broken: what else it holds cannot be told. */
  readonly broken: boolean;
}

export function manifestKey({ kind, namespace, name }: Subject): string {
  return `${kind} ${namespace === '' ? name : objectKey({ namespace, name })}`;
}

/** The objects of a file's text. Never throws. */
export async function parseManifests(text: string, path: string): Promise<ManifestFile> {
  const json = parseJson(text);
  const quick = json && readDocument(json, new FileBuilder(path)).build();
  if (quick && (quick.problems.length === 0 || text.length > MOST_YAML_BYTES)) return quick;
  if (text.length > MOST_YAML_BYTES) {
    const builder = new FileBuilder(path);
    builder.breakOff(`is not JSON, and too long for YAML (at most ${MOST_YAML_BYTES >> 20} MiB): split it`);
    return builder.build();
  }
  const builder = new FileBuilder(path);
  for await (const document of parseYaml(text)) readDocument(document, builder);
  return builder.build();
}

function readDocument(document: ParsedDocument, builder: FileBuilder): FileBuilder {
  if (document.kind === 'error') {
    builder.breakOff(document.message, document.position);
    return builder;
  }
  for (const item of decodeObjects(document.value)) readItem(item, document.locate, builder);
  return builder;
}

type Locate = (path: readonly (string | number)[]) => Position | undefined;

function readItem({ result, path }: DecodedItem, locate: Locate, builder: FileBuilder): void {
  switch (result.kind) {
    case 'ignored':
      return;
    case 'problems': {
      const key = result.subject && manifestKey(withNamespace(result.subject));
      for (const problem of result.problems) builder.problem(problem, locate([...path, ...problem.path]), key);
      return;
    }
    case 'object': {
      const object = withDefaults(result.object);
      const key = manifestKey({ kind: object.kind, ...object.metadata });
      const problems = validateManifest(object);
      for (const problem of problems) builder.problem(problem, locate([...path, ...problem.path]), key);
      if (problems.length === 0) builder.add(key, object, locate(path));
    }
  }
}

function withNamespace(subject: Subject): Subject {
  const namespaced = subject.kind === 'Service' || subject.kind === 'EndpointSlice';
  return namespaced && subject.namespace === '' ? { ...subject, namespace: 'default' } : subject;
}

class FileBuilder {
  readonly #path: string;
  readonly #manifests = new Map<string, Manifest>();
  readonly #problems: Problem[] = [];
  #broken = false;

  constructor(path: string) {
    this.#path = path;
  }

  add(key: string, object: KubeObject, position: Position | undefined): void {
    const where = this.#where(position);
    const first = this.#manifests.get(key);
    if (!first) this.#manifests.set(key, { key, object, where });
    else
      this.#problems.push({ where, object: key, message: `is also at ${first.where}, which is used: take one away` });
  }

  problem({ field, message }: FieldProblem, position: Position | undefined, object: string | undefined): void {
    this.#problems.push({ where: this.#where(position), object, field, message });
  }

  breakOff(message: string, position?: Position): void {
    this.#broken = true;
    this.#problems.push({ where: this.#where(position), message });
  }

  build(): ManifestFile {
    return { manifests: this.#manifests, problems: this.#problems, broken: this.#broken };
  }

  #where(position: Position | undefined): string {
    return position ? `${this.#path}:${position.line}:${position.column}` : this.#path;
  }
}
