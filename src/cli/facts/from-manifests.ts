import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { manifestKey, readManifests, readManifestText } from '../../source/index.ts';
import type { Input } from '../command.ts';
import { type Snapshot, sortObjects } from './snapshot.ts';

export interface ManifestsInput {
  /** A folder or a file. `-` is standard input. */
  readonly path: string;
  readonly stdin?: Input | undefined;
  readonly allowLoopbackEndpoints: boolean;
}

const STDIN_NAME = 'standard input';

/** Reads all manifests once. Rejects if the path cannot be read. */
export async function fromManifests({ path, stdin, allowLoopbackEndpoints }: ManifestsInput): Promise<Snapshot> {
  const rules = { allowLoopbackEndpoints };
  const isStdin = path === '-';
  const name = isStdin ? STDIN_NAME : path;
  const stream = isStdin ? (stdin ?? []) : await pipeAt(path);
  const found = stream ? await readManifestText(stream, name, rules) : await readManifests(path, rules);
  const objects = [...found.manifests.values()].map(({ object }) => object);
  return {
    origin: 'manifests',
    name,
    ...sortObjects(objects),
    whereOf: ({ kind, metadata }) => found.manifests.get(manifestKey({ kind, ...metadata }))?.where,
    problems: found.problems,
    notes: found.notes,
  };
}

/** A shell gives a pipe for `<(kubectl get …)`. */
async function pipeAt(path: string): Promise<AsyncIterable<Buffer> | undefined> {
  const isPipe = await stat(path).then(
    stats => stats.isFIFO(),
    () => false,
  );
  return isPipe ? createReadStream(path) : undefined;
}
