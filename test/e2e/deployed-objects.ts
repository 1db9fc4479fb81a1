import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { KubeObject } from '../control-plane/objects.ts';

const FOLDER = 'deploy/kustomize';

/** The objects of nftables mode. They contain their namespaces. */
export function deployedObjects(): readonly KubeObject[] {
  const { resources } = read('base/kustomization.yaml');
  return resources.map((file: string) => read(`base/${file}`));
}

/** The patches of the DaemonSet for modes other than nftables, by mode. */
export function deployedPatches(): ReadonlyMap<string, KubeObject> {
  return new Map(
    ['ebpf', 'iptables', 'ipvs', 'userspace'].map(mode => [mode, read(`overlays/${mode}/daemon-set.yaml`)]),
  );
}

/** The capabilities that the proxy's container has in the mode, without CAP_. */
export function deployedCapabilities(mode: string): readonly string[] {
  const object = read(mode === 'nftables' ? 'base/daemon-set.yaml' : `overlays/${mode}/daemon-set.yaml`);
  return object.spec.template.spec.containers[0].securityContext.capabilities.add;
}

function read(file: string) {
  return parse(readFileSync(`${FOLDER}/${file}`, 'utf8'));
}
