import { arch, platform } from 'node:os';
import manifest from '../../package.json' with { type: 'json' };
import { goQuote } from '../lib/go-quote.ts';
import { KUBERNETES_VERSION } from '../lib/kubernetes-version.ts';
import { type Command, HELP_FLAG, refuseArguments } from './command.ts';
import { parseFlags, type VersionChoice } from './flags/index.ts';

/** The version of Pointsman. */
const VERSION: string = manifest.version;

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
    Platform: `${platform()}/${arch() === 'x64' ? 'amd64' : arch()}`,
  };
  const text = Object.entries(fields).map(([name, value]) => `${name}:${goQuote(value)}`);
  return `version.Info{${text.join(', ')}}\n`;
}

const HELP = `Prints the version of Pointsman, and the Kubernetes version whose kube-proxy it replaces.

Usage:
  kube-proxy version
`;

/** Scripts read the Kubernetes version from `--version`. This command prints the version of Pointsman too. */
export const versionCommand: Command = {
  name: 'version',
  summary: 'print the version of Pointsman',
  async run(args, io) {
    const { values, positional } = parseFlags(HELP_FLAG, args);
    if (!values.help) refuseArguments('kube-proxy version', positional);
    io.stdout.write(values.help ? HELP : `Pointsman ${VERSION}, for Kubernetes ${KUBERNETES_VERSION}\n`);
    return 0;
  },
};
