import { stringify } from 'yaml';
import { applyFeatureGates, type FeatureGates, isEnabled } from '../../config/index.ts';
import { localNode } from '../../daemon/index.ts';
import { printable, printableJson } from '../../lib/printable.ts';
import type { Problem } from '../../lib/problem.ts';
import { DEFAULT_MODE, MODES } from '../../modes/index.ts';
import { FAMILIES } from '../../net/index.ts';
import { conflictProblems } from '../../plan/index.ts';
import { ProxyState } from '../../proxy/index.ts';
import { FilesSource } from '../../source/index.ts';
import { defineCommand, oneOf, print } from '../command.ts';
import { bool, FlagError, type FlagValues, mapStringBool, string, stringSlice } from '../flags/index.ts';
import {
  manifestsFlag,
  modeFlag,
  NODE_FLAGS,
  nodeNameFlag,
  nodePortAddressesFlag,
  planSettings,
} from '../node-flags.ts';
import { COLOR_FLAG, colorFlag, type Style, styleFor } from '../style.ts';
import { type PlanReport, planReport } from './report.ts';
import { problemsText, rulesText } from './rules.ts';
import { planText } from './text.ts';

const NONE: readonly string[] = [];

const FORMS = ['text', 'json', 'yaml'] as const;

const FLAGS = {
  ...NODE_FLAGS,
  'proxy-mode': {
    type: string,
    default: DEFAULT_MODE.descriptor.name,
    word: 'MODE',
    usage: `mode for --rules and --diff: ${MODES.map(({ name }) => name).join(', ')}`,
  },
  output: { type: string, default: 'text', shorthand: 'o', word: 'FORM', usage: 'text, json or yaml', words: FORMS },
  service: {
    type: stringSlice,
    default: NONE,
    word: 'NS/NAME',
    usage: 'show only these Services; --rules and --diff show all',
  },
  rules: {
    type: bool,
    default: false,
    usage: 'print what a first start would write, as input of nft, iptables-restore, ipset and ipvsadm',
  },
  diff: {
    type: bool,
    default: false,
    usage: 'print what would bring the kernel of this machine to the plan',
  },
  'feature-gates': {
    type: mapStringBool,
    default: new Map<string, boolean>(),
    word: 'GATES',
    usage: 'the feature gates of the proxy, such as AllowServiceExternalIPs=false',
  },
  'count-connections': {
    type: bool,
    default: false,
    usage: 'for --rules and --diff: the rules of a proxy that runs with this flag',
  },
  ...COLOR_FLAG,
};

export const planCommand = defineCommand({
  name: 'plan',
  summary: 'show what the proxy programs for a folder of manifests, and why',
  about: `Shows what the proxy programs for a folder of manifests, and why. Changes nothing in the kernel.

Exit status: 0 if all is well. It is 1 if a manifest has a problem (the command plans all others), or if --diff finds a
difference.`,
  usage: 'plan --manifests DIR [flags]',
  examples: [
    {
      meaning: 'Every address of every Service, the endpoints behind it, and the reasons',
      command: 'kube-proxy plan --manifests examples --hostname-override node-a',
    },
    {
      meaning: 'The rules that a first start would write',
      command: 'kube-proxy plan --manifests examples --rules --proxy-mode nftables',
    },
    { meaning: 'How the kernel of this machine differs', command: 'kube-proxy plan --manifests examples --diff' },
  ],
  flags: FLAGS,
  async run({ values }, io) {
    const render = renderer(values.output, styleFor(io.stdout, io.env, colorFlag(values)));
    const mode = modeFlag(values);
    const { state, problems, nodeName } = await readState(values);
    if (values.rules || values.diff) {
      io.stderr.write(problemsText(problems));
      const text = await rulesText(state, {
        mode,
        featureGates: values['feature-gates'],
        nodePortAddresses: nodePortAddressesFlag(values, mode),
        countConnections: values['count-connections'],
        against: values.diff ? 'kernel' : 'nothing',
      });
      const isDifferent = values.diff && text !== '';
      const status = problems.length > 0 || isDifferent ? 1 : 0;
      return print(io, values.diff && !isDifferent ? 'no difference\n' : text, status);
    }
    const report = filter(planReport(state, nodeName, problems), values.service);
    return print(io, render(report), report.problems.length > 0 ? 1 : 0);
  },
});

interface Read {
  readonly state: ProxyState;
  readonly problems: readonly Problem[];
  readonly nodeName: string;
}

async function readState(values: FlagValues<typeof FLAGS>): Promise<Read> {
  const path = manifestsFlag(values);
  const nodeName = nodeNameFlag(values);
  const problems: Problem[] = [];
  const report = (problem: Problem) => problems.push(problem);
  const allowExternalIPs = isEnabled(gatesFlag(values), 'AllowServiceExternalIPs');
  const settings = { ...planSettings(values), allowExternalIPs };
  const state = new ProxyState({ nodeName, settings, startedAt: 0, report });
  const allowLoopbackEndpoints = values['allow-loopback-endpoints'];
  const source = new FilesSource({ path, nodeName, localNode: () => localNode(nodeName), allowLoopbackEndpoints });
  try {
    await source.start({
      serviceChanged: change => state.serviceChanged(change),
      endpointSliceChanged: change => state.endpointSliceChanged(change),
      nodeChanged: change => state.nodeChanged(change),
      serviceCidrChanged: change => state.serviceCidrChanged(change),
      synced: () => state.take(),
      problem: report,
    });
  } finally {
    await source.close();
  }
  return { state, problems: [...problems, ...conflicts(state)], nodeName };
}

function gatesFlag(values: FlagValues<typeof FLAGS>): FeatureGates {
  const applied = applyFeatureGates(values['feature-gates']);
  if (applied.kind === 'error') throw new FlagError(applied.message);
  return applied.gates;
}

function conflicts(state: ProxyState): readonly Problem[] {
  return FAMILIES.flatMap(family => conflictProblems(state.family(family).planner.plans()));
}

function filter(report: PlanReport, wanted: readonly string[]): PlanReport {
  if (wanted.length === 0) return report;
  const services = report.services.filter(({ namespace, name }) => wanted.includes(`${namespace}/${name}`));
  return { ...report, services };
}

function renderer(form: string, style: Style): (report: PlanReport) => string {
  switch (oneOf(FORMS, form, '"-o, --output" flag')) {
    case 'text':
      return report => planText(printableReport(report), style);
    case 'json':
      return report => `${JSON.stringify(report, undefined, 2).replaceAll(/.+/g, printableJson)}\n`;
    case 'yaml':
      return report => stringify(printableReport(report));
  }
}

/** Texts of manifests can contain anything, and a terminal obeys some characters. */
function printableReport(report: PlanReport): PlanReport {
  return JSON.parse(JSON.stringify(report), (_key, value: unknown) =>
    typeof value === 'string' ? printable(value) : value,
  );
}
