import type { Command } from './command.ts';
import { parseFlags } from './flags/index.ts';
import { HELP_FLAG } from './help-flag.ts';
import { refuseArguments } from './no-arguments.ts';
import { KUBERNETES_VERSION, VERSION } from './version.ts';

const HELP = `Prints our own version, and that of Kubernetes whose kube-proxy this one behaves as.

Usage:
  kube-proxy version
`;

/** `--version` says what scripts expect of a kube-proxy; this says what it is. */
export const versionCommand: Command = {
  name: 'version',
  summary: 'print our own version',
  async run(args, io) {
    const { values, positional } = parseFlags(HELP_FLAG, args);
    if (!values.help) refuseArguments('kube-proxy version', positional);
    io.stdout.write(values.help ? HELP : `Pointsman ${VERSION}, for Kubernetes ${KUBERNETES_VERSION}\n`);
    return 0;
  },
};
