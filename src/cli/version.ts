import { arch, platform } from 'node:os';
import manifest from '../../package.json' with { type: 'json' };
import { goQuote } from '../lib/go-quote.ts';
import type { VersionChoice } from './flags/index.ts';

/** The version of Pointsman. */
export const VERSION: string = manifest.version;

/** Returns what `--version` prints, or undefined if the flag is false. */
export function versionText({ choice, reported }: VersionChoice): string | undefined {
  if (choice === 'true') return `Kubernetes ${reported}\n`;
  return choice === 'raw' ? rawVersionText(reported) : undefined;
}

/** Has the form and the fields of upstream. Where upstream names Go, this names Node and Pointsman. */
function rawVersionText(reported: string): string {
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
    Platform: platformName(),
  };
  const text = Object.entries(fields).map(([name, value]) => `${name}:${goQuote(value)}`);
  return `version.Info{${text.join(', ')}}\n`;
}

/** The platform in the words of Go. */
export function platformName(): string {
  return `${platform()}/${arch() === 'x64' ? 'amd64' : arch()}`;
}
