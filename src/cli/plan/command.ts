import { stringify } from 'yaml';
import { defineCommand, oneOf, print } from '../command.ts';
import { jsonDocument, printableTexts } from '../document-stream.ts';
import { FACTS_FLAGS, loadFacts } from '../facts/index.ts';
import { bool, string, stringSlice } from '../flags/index.ts';
import { COLOR_FLAG, colorFlag, type Style, styleFor } from '../style.ts';
import { type PlanReport, planReport } from './report.ts';
import { notesText, problemsText, rulesText, wrongMachineNotes } from './rules.ts';
import { selectServices } from './select-services.ts';
import { planText } from './text.ts';

const NONE: readonly string[] = [];

const FORMS = ['text', 'json', 'yaml'] as const;

const FLAGS = {
  ...FACTS_FLAGS,
  output: { type: string, default: 'text', shorthand: 'o', word: 'FORM', usage: 'text, json or yaml', words: FORMS },
  service: {
    type: stringSlice,
    default: NONE,
    word: 'NS/NAME',
    usage: 'show only these Services, such as shop/web or shop/*; --rules and --diff show all',
  },
  rules: {
    type: bool,
    default: false,
    usage:
      'print what a first start would write, as input of nft, iptables-restore, ipset and ipvsadm; in ebpf mode also the maps of sockets',
  },
  diff: {
    type: bool,
    default: false,
    usage: 'print what would bring the kernel of this machine to the plan',
  },
  ...COLOR_FLAG,
};

export const planCommand = defineCommand({
  name: 'plan',
  summary: 'show what the proxy programs for a cluster or a folder of manifests, and why',
  about: `Shows what the proxy programs on a node, and why. Changes nothing in the kernel. The objects come from manifests, from
standard input, or from an API server. The settings come from flags and from the configuration file of the proxy.

Exit status: 0 if all is well. It is 1 if an object has a problem (the command plans all others), if --service matches no
Service, if --diff finds a difference, or if the command line is wrong.`,
  usage: 'plan --manifests DIR | --kubeconfig FILE [flags]',
  examples: [
    {
      meaning: 'Every address of every Service, the endpoints behind it, and the reasons',
      command: 'kube-proxy plan --manifests examples',
    },
    {
      meaning: 'The Services of one namespace of a cluster, as one of its nodes sees them',
      command: "kube-proxy plan --kubeconfig ~/.kube/config --node NODE --service 'shop/*'",
    },
    {
      meaning: 'The same objects, through kubectl',
      command: `kubectl get services,endpointslices,nodes,servicecidrs -A -o yaml |
  kube-proxy plan --manifests - --node NODE`,
    },
    {
      meaning: 'The rules that a first start would write',
      command: 'kube-proxy plan --manifests examples --rules --proxy-mode nftables',
    },
    {
      meaning: 'How the kernel of this machine differs',
      command: 'kube-proxy plan --manifests examples --diff',
    },
  ],
  flags: FLAGS,
  async run(flags, io) {
    const { values } = flags;
    const render = renderer(values.output, styleFor(io.stdout, io.env, colorFlag(values)));
    const facts = await loadFacts(flags, io);
    const { problems } = facts;
    if (values.rules || values.diff) {
      const notes = values.diff ? [...facts.notes, ...wrongMachineNotes(facts)] : facts.notes;
      io.stderr.write(`${notesText(notes)}${problemsText(problems)}`);
      const text = await rulesText(facts, values.diff ? 'kernel' : 'nothing');
      const isDifferent = values.diff && text !== '';
      const status = problems.length > 0 || isDifferent ? 1 : 0;
      return print(io, values.diff && !isDifferent ? 'no difference\n' : text, status);
    }
    const report = planReport(facts, selectServices(values.service, facts.snapshot));
    return print(io, render(report), report.problems.length > 0 ? 1 : 0);
  },
});

function renderer(form: string, style: Style): (report: PlanReport) => string {
  switch (oneOf(FORMS, form, '"-o, --output" flag')) {
    case 'text':
      return report => planText(printableTexts(report), style);
    case 'json':
      return jsonDocument;
    case 'yaml':
      return report => stringify(printableTexts(report));
  }
}
