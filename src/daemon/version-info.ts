import { arch, platform } from 'node:os';
import type { BuildInfo, StatuszInfo } from '../observe/metrics/index.ts';

/** The labels of `kubernetes_build_info`, which every component of Kubernetes has. */
export function buildInfo(kubernetesVersion: string): BuildInfo {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(kubernetesVersion) ?? [];
  return {
    major,
    minor,
    git_version: kubernetesVersion,
    git_commit: '',
    git_tree_state: '',
    build_date: '',
    go_version: `Node ${process.version}`,
    compiler: 'esbuild',
    platform: `${platform()}/${arch() === 'x64' ? 'amd64' : arch()}`,
  };
}

/** The versions that `/statusz` shows, without the `v`. */
export function statuszInfo(kubernetesVersion: string): StatuszInfo {
  const binaryVersion = kubernetesVersion.replace(/^v/, '');
  return { binaryVersion, emulationVersion: binaryVersion.replace(/^(\d+\.\d+).*/, '$1') };
}
