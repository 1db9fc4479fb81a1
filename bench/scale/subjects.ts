import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ownVersion } from '../record/machine.ts';

/** The name of our own program in all results. */
export const OURS = 'Pointsman';

/** A proxy that is measured. */
export interface Subject {
  readonly name: string;
  readonly version: string;
  readonly command: readonly string[];
}

/** Our program from this checkout, or the one in `path`, such as the single executable of a release. */
export function ourSubject(path: string | undefined): Subject {
  const command = path === undefined ? [process.execPath, ...nodeFlags(), 'build/kube-proxy.mjs'] : [path];
  return { name: OURS, version: ownVersion(), command };
}

/** Upstream's program. It is named after the version that it prints. */
export function upstreamSubject(path: string): Subject {
  const { stdout, error } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  const version = /v\d\S*/.exec(stdout ?? '')?.[0];
  if (version === undefined) throw new Error(`${path} --version prints no version: ${error?.message ?? stdout}`);
  return { name: `kube-proxy ${version}`, version, command: [path] };
}

/** The programs that `--upstream` names. Without the flag, those that scripts/control-plane.mjs built. */
export function upstreamSubjects(paths: readonly string[] | undefined): readonly Subject[] {
  const { KUBE_PROXY_V1_36 = '', KUBE_PROXY_V1_37 = '' } = process.env;
  return (paths ?? [KUBE_PROXY_V1_36, KUBE_PROXY_V1_37]).filter(Boolean).map(upstreamSubject);
}

/** The flags of Node that the program runs with. The first line of its file has them. */
function nodeFlags(): readonly string[] {
  const [first = ''] = readFileSync('bin/kube-proxy', 'utf8').split('\n');
  return first.split(' ').filter(word => word.startsWith('--'));
}
