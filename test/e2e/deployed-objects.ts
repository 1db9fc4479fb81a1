import { readdirSync, readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import type { KubeObject } from '../control-plane/objects.ts';

/** The objects that `kubectl apply --kustomize deploy` applies. The files contain their namespaces. */
export function deployedObjects(): readonly KubeObject[] {
  const { resources } = parse(readFileSync('deploy/kustomization.yaml', 'utf8'));
  return resources.flatMap((file: string) =>
    parseAllDocuments(readFileSync(`deploy/${file}`, 'utf8')).map(document => document.toJS()),
  );
}

/** The patches of the DaemonSet for modes other than nftables, by mode. */
export function deployedPatches(): ReadonlyMap<string, KubeObject> {
  const files = readdirSync('deploy/modes');
  return new Map(files.map(file => [file.replace('.yaml', ''), parse(readFileSync(`deploy/modes/${file}`, 'utf8'))]));
}

/** The capabilities that the proxy's container has in the mode, without CAP_. */
export function deployedCapabilities(mode: string): readonly string[] {
  const file = mode === 'nftables' ? 'deploy/daemon-set.yaml' : `deploy/modes/${mode}.yaml`;
  return parse(readFileSync(file, 'utf8')).spec.template.spec.containers[0].securityContext.capabilities.add;
}
