import { arch, platform } from 'node:os';
import type { BuildInfo } from '../observe/metrics/index.ts';

/** What this program is, under the names that components of Kubernetes have for it. */
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
