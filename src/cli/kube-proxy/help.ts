import type { Command } from '../command.ts';
import { describeFlags, sortedFlags } from '../flags/index.ts';
import { OWN_FLAGS, UPSTREAM_FLAGS } from './flags/index.ts';

const ABOUT = `Pointsman, a kube-proxy: makes Kubernetes Services work on a node. It follows Services, EndpointSlices and the
Node at the API server and programs the kernel for them. Flags, configuration file and behaviour are those of upstream's
kube-proxy.`;

export function helpText(commands: readonly Command[]): string {
  return `${ABOUT}\n\n${usageText(commands)}`;
}

/** What a command line that cannot be read is answered with. */
export function usageText(commands: readonly Command[]): string {
  return `Usage:
  kube-proxy [flags]
  kube-proxy COMMAND [flags]

Flags:
${describeFlags(sortedFlags(UPSTREAM_FLAGS))}

Flags of Pointsman alone:
${describeFlags(OWN_FLAGS)}

Commands of Pointsman alone:
${commands.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`).join('\n')}
`;
}
