import { arch, platform } from 'node:os';
import { goQuote } from '../../lib/go-quote.ts';
import type { VersionChoice } from '../flags/index.ts';
import { VERSION } from '../version.ts';

/** What `--version` prints; undefined if it was not asked for. */
export function versionText({ choice, reported }: VersionChoice): string | undefined {
  if (choice === 'true') return `Kubernetes ${reported}\n`;
  return choice === 'raw' ? rawText(reported) : undefined;
}

/** Upstream's form and fields; those about Go tell about us instead. */
function rawText(reported: string): string {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(reported) ?? [];
  const fields = {
    Major: major,
    Minor: minor,
    EmulationMajor: '',
    EmulationMinor: '',
    MinCompatibilityMajor: '',
    MinCompatibilityMinor: '',
    GitVersion: reported,
    GitCommit: '',
    GitTreeState: '',
    BuildDate: '',
    GoVersion: `Node ${process.version}`,
    Compiler: `Pointsman ${VERSION}`,
    Platform: `${platform()}/${arch() === 'x64' ? 'amd64' : arch()}`,
  };
  const text = Object.entries(fields).map(([name, value]) => `${name}:${goQuote(value)}`);
  return `version.Info{${text.join(', ')}}\n`;
}
