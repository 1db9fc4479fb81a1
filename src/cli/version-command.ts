import { stringify } from 'yaml';
import { KUBERNETES_VERSION } from '../lib/kubernetes-version.ts';
import { defineCommand, oneOf, print } from './command.ts';
import { string } from './flags/index.ts';
import { platformName, VERSION } from './version.ts';

const FORMS = ['text', 'json', 'yaml'] as const;

const VERSIONS = {
  pointsman: VERSION,
  kubernetes: KUBERNETES_VERSION,
  node: process.version,
  platform: platformName(),
};

/** Scripts read the Kubernetes version from `--version`. This command prints the version of Pointsman too. */
export const versionCommand = defineCommand({
  name: 'version',
  summary: 'print the version of Pointsman',
  about: `Prints the version of Pointsman, and the Kubernetes version whose kube-proxy it replaces.

"kube-proxy --version" prints what upstream's kube-proxy prints, because scripts read it.`,
  usage: 'version [flags]',
  examples: [{ meaning: 'For a script', command: 'kube-proxy version -o json' }],
  flags: {
    output: { type: string, default: 'text', shorthand: 'o', word: 'FORM', usage: 'text, json or yaml', words: FORMS },
  },
  async run({ values }, io) {
    return print(io, versionsText(values.output));
  },
});

function versionsText(form: string): string {
  switch (oneOf(FORMS, form, '"-o, --output" flag')) {
    case 'text':
      return `Pointsman ${VERSION}, for Kubernetes ${KUBERNETES_VERSION}\n`;
    case 'json':
      return `${JSON.stringify(VERSIONS, undefined, 2)}\n`;
    case 'yaml':
      return stringify(VERSIONS);
  }
}
