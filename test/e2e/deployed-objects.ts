import { readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import type { KubeObject } from '../control-plane/objects.ts';

/** The objects that `kubectl apply --kustomize deploy` applies. The files contain their namespaces. */
export function deployedObjects(): readonly KubeObject[] {
  const { resources } = parse(readFileSync('deploy/kustomization.yaml', 'utf8'));
  return resources.flatMap((file: string) =>
    parseAllDocuments(readFileSync(`deploy/${file}`, 'utf8')).map(document => document.toJS()),
  );
}
