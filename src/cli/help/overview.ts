import type { Command } from '../command.ts';
import { describeFlags } from '../flags/index.ts';
import { flagGroups } from '../kube-proxy/flag-groups.ts';
import { wrap } from '../terminal-text.ts';
import { type Example, exampleLines, paragraphs, sections } from './text.ts';

const ABOUT = `Pointsman is a drop-in replacement for kube-proxy: it makes Kubernetes Services work on a node. It watches
Services, EndpointSlices and the Node at the API server, and programs the kernel for them. Flags, configuration file and
behaviour are those of kube-proxy.`;

const EXAMPLES: readonly Example[] = [
  {
    meaning: 'Run on a node of a cluster, as the DaemonSet does',
    command: 'kube-proxy --config=/var/lib/kube-proxy/config.conf --hostname-override=NODE',
  },
  { meaning: 'Ask the proxy of this node whether all is well', command: 'kube-proxy status' },
  { meaning: 'Find out why a Service does not answer', command: 'kube-proxy explain NAMESPACE/SERVICE' },
  { meaning: 'See what the Services of some manifests mean', command: 'kube-proxy plan --manifests DIR' },
  { meaning: 'Watch a proxy at work, without a cluster', command: 'kube-proxy demo --manifests DIR' },
];

/** What `kube-proxy help` and `kube-proxy --help` print. */
export function overviewText(commands: readonly Command[], width: number): string {
  const column = Math.max(...commands.map(({ name }) => name.length)) + 4;
  return sections([
    paragraphs(ABOUT, width),
    ['Usage:', '  kube-proxy [flags]', '  kube-proxy COMMAND [flags]'],
    ['Commands:', ...commands.flatMap(({ name, summary }) => item(name, summary, column, width))],
    exampleLines(EXAMPLES),
    ...flagSections(width),
    paragraphs(
      `"kube-proxy help COMMAND" describes a command, "kube-proxy help feature-gates" lists the feature gates, and
"kube-proxy help upstream" prints the help of upstream's kube-proxy word for word.`,
      width,
    ),
  ]);
}

/** What `kube-proxy help flags` prints. */
export function flagsText(width: number): string {
  return sections(flagSections(width));
}

function flagSections(width: number): readonly (readonly string[])[] {
  return flagGroups().map(({ title, flags }) => [`Flags: ${title}`, ...describeFlags(flags, width)]);
}

/** A name, and a text beside it. */
function item(name: string, text: string, column: number, width: number): readonly string[] {
  return wrap(text, width - column).map((line, i) => `${(i === 0 ? `  ${name}` : '').padEnd(column)}${line}`);
}
