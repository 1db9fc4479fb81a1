import { hostname } from 'node:os';
import { stringify } from 'yaml';
import { type ModelProblem, nodeNameFrom } from '../../model/index.ts';
import { DEFAULT_PLAN_SETTINGS, type PlanSettings } from '../../plan/index.ts';
import { FilesSource, type SourceProblem } from '../../source/index.ts';
import { ProxyState } from '../../sync/index.ts';
import type { Command, Io } from '../command.ts';
import {
  boolFlag,
  describeFlags,
  FlagError,
  type FlagSpec,
  type FlagValues,
  listFlag,
  parseFlags,
  stringFlag,
} from '../flags.ts';
import { localNode } from '../local-node.ts';
import { styleFor } from '../style.ts';
import { type PlanReport, type ProblemReport, planReport } from './report.ts';
import { planText } from './text.ts';

const FLAGS: readonly FlagSpec[] = [
  { name: 'manifests', type: 'string', value: 'DIR', usage: 'folder or file of manifests to read (needed)' },
  { name: 'output', shorthand: 'o', type: 'string', value: 'FORM', usage: 'text, json or yaml (default text)' },
  { name: 'service', type: 'stringSlice', value: 'NS/NAME', usage: 'only these Services' },
  { name: 'hostname-override', type: 'string', value: 'NAME', usage: "the node's name (default this machine's)" },
  { name: 'bind-address', type: 'string', value: 'IP', usage: "the node's address, if the Node does not say it" },
  { name: 'cluster-cidr', type: 'stringSlice', value: 'CIDRS', usage: 'pod ranges of the cluster' },
  {
    name: 'detect-local-mode',
    type: 'string',
    value: 'MODE',
    usage: 'ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix',
  },
  { name: 'pod-bridge-interface', type: 'string', value: 'NAME', usage: 'for detect-local-mode BridgeInterface' },
  {
    name: 'pod-interface-name-prefix',
    type: 'string',
    value: 'PREFIX',
    usage: 'for detect-local-mode InterfaceNamePrefix',
  },
  { name: 'masquerade-all', type: 'bool', usage: 'masquerade all traffic to cluster IPs' },
  { name: 'help', shorthand: 'h', type: 'bool', usage: 'this help' },
];

const HELP = `Says what should be programmed for a folder of manifests, and why. Nothing is sent to the kernel.

Usage:
  kube-proxy plan --manifests DIR [flags]

Exit status: 0, or 1 if something in the manifests cannot be used (the rest is planned all the same).

Flags:
${describeFlags(FLAGS)}
`;

export const planCommand: Command = {
  name: 'plan',
  summary: 'say what should be programmed for a folder of manifests, and why',
  async run(args, io) {
    const { values, positional } = parseFlags(FLAGS, args);
    if (boolFlag(values, 'help')) return print(io, HELP, 0);
    if (positional.length > 0)
      throw new FlagError(`"kube-proxy plan" does not take any arguments, got ${JSON.stringify(positional)}`);
    const render = renderer(stringFlag(values, 'output') ?? 'text', io);
    const report = filter(await readPlan(values), listFlag(values, 'service'));
    return print(io, render(report), report.problems.length > 0 ? 1 : 0);
  },
};

async function readPlan(values: FlagValues): Promise<PlanReport> {
  const path = stringFlag(values, 'manifests');
  if (!path) throw new FlagError('required flag "manifests" not set: name a folder of manifests');
  const nodeName = nodeNameFrom(stringFlag(values, 'hostname-override') ?? '', hostname()) ?? 'localhost';
  const problems: ProblemReport[] = [];
  const report = (problem: SourceProblem | ModelProblem) => problems.push(problem);
  const state = new ProxyState({ nodeName, settings: settings(values), startedAt: 0, report });
  const source = new FilesSource({ path, nodeName, localNode: () => localNode(nodeName) });
  try {
    await source.start({
      service: change => state.service(change),
      endpointSlice: change => state.endpointSlice(change),
      node: change => state.node(change),
      serviceCidr: change => state.serviceCidr(change),
      synced: () => state.take(),
      problem: report,
    });
  } finally {
    await source.close();
  }
  return planReport(state, nodeName, problems);
}

function settings(values: FlagValues): PlanSettings {
  return {
    ...DEFAULT_PLAN_SETTINGS,
    mode: stringFlag(values, 'detect-local-mode') ?? DEFAULT_PLAN_SETTINGS.mode,
    clusterCIDRs: listFlag(values, 'cluster-cidr'),
    bridgeInterface: stringFlag(values, 'pod-bridge-interface') ?? '',
    interfaceNamePrefix: stringFlag(values, 'pod-interface-name-prefix') ?? '',
    bindAddress: stringFlag(values, 'bind-address') ?? DEFAULT_PLAN_SETTINGS.bindAddress,
    masqueradeAll: boolFlag(values, 'masquerade-all'),
  };
}

function filter(report: PlanReport, wanted: readonly string[]): PlanReport {
  if (wanted.length === 0) return report;
  const services = report.services.filter(({ namespace, name }) => wanted.includes(`${namespace}/${name}`));
  return { ...report, services };
}

function renderer(form: string, io: Io): (report: PlanReport) => string {
  switch (form) {
    case 'text':
      return report => planText(report, styleFor(io.stdout, io.env));
    case 'json':
      return report => `${JSON.stringify(report, undefined, 2)}\n`;
    case 'yaml':
      return report => stringify(report);
    default:
      throw new FlagError(
        `invalid argument ${JSON.stringify(form)} for "-o, --output" flag: must be text, json or yaml`,
      );
  }
}

function print(io: Io, text: string, status: number): number {
  io.stdout.write(text);
  return status;
}
