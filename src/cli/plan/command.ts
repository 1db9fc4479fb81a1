import { stringify } from 'yaml';
import { localNode } from '../../daemon/index.ts';
import type { Problem } from '../../lib/problem.ts';
import { FAMILIES } from '../../net/index.ts';
import { conflictProblems } from '../../plan/index.ts';
import { PROXY_MODES, ProxyState } from '../../proxy/index.ts';
import { FilesSource } from '../../source/index.ts';
import type { Command, Io } from '../command.ts';
import { bool, describeFlags, FlagError, type FlagValues, parseFlags, string, stringSlice } from '../flags/index.ts';
import { HELP_FLAG } from '../help-flag.ts';
import { refuseArguments } from '../no-arguments.ts';
import { manifestsFlag, NODE_FLAGS, nodeNameFlag, nodePortAddressesFlag, planSettings } from '../node-flags.ts';
import { styleFor } from '../style.ts';
import { type PlanReport, planReport } from './report.ts';
import { diffText, problemsText, rulesText } from './rules.ts';
import { planText } from './text.ts';

const NONE: readonly string[] = [];

const FLAGS = {
  ...NODE_FLAGS,
  'proxy-mode': { type: string, default: 'nftables', word: 'MODE', usage: 'nftables, iptables or ipvs' },
  output: { type: string, default: 'text', shorthand: 'o', word: 'FORM', usage: 'text, json or yaml' },
  service: { type: stringSlice, default: NONE, word: 'NS/NAME', usage: 'only these Services' },
  rules: {
    type: bool,
    default: false,
    usage: 'print what a first start would send, as nft scripts or as input of iptables-restore, ipset and ipvsadm',
  },
  diff: {
    type: bool,
    default: false,
    usage: 'print the transactions that would bring the running kernel to the plan',
  },
  'count-connections': {
    type: bool,
    default: false,
    usage: 'for --rules and --diff: as they are when the proxy runs with this flag',
  },
  ...HELP_FLAG,
};

const HELP = `Says what should be programmed for a folder of manifests, and why. Nothing is sent to the kernel.

Usage:
  kube-proxy plan --manifests DIR [flags]

Exit status: 0, or 1 if something in the manifests cannot be used (the rest is planned all the same), or if --diff
found a difference.

Flags:
${describeFlags(FLAGS)}
`;

export const planCommand: Command = {
  name: 'plan',
  summary: 'say what should be programmed for a folder of manifests, and why',
  async run(args, io) {
    const { values, positional } = parseFlags(FLAGS, args);
    if (values.help) return print(io, HELP, 0);
    refuseArguments('kube-proxy plan', positional);
    const render = renderer(values.output, io);
    const { state, problems, nodeName } = await readState(values);
    const mode = modeFlag(values['proxy-mode']);
    if (mode !== 'nftables' && values.diff) throw new FlagError('--diff is for proxy mode nftables');
    const input = {
      mode,
      nodePortAddresses: nodePortAddressesFlag(values, mode),
      countConnections: values['count-connections'],
    };
    if (values.rules || values.diff) {
      io.stderr.write(problemsText(problems));
      const isDiff = values.diff;
      const text = isDiff ? await diffText(state, input) : await rulesText(state, input);
      const isDifferent = isDiff && text !== '';
      return print(io, isDiff && text === '' ? 'no difference\n' : text, problems.length > 0 || isDifferent ? 1 : 0);
    }
    const report = filter(planReport(state, nodeName, problems), values.service);
    return print(io, render(report), report.problems.length > 0 ? 1 : 0);
  },
};

function modeFlag(text: string): (typeof PROXY_MODES)[number] {
  const mode = PROXY_MODES.find(known => known === text);
  if (mode === undefined) {
    throw new FlagError(
      `invalid argument ${JSON.stringify(text)} for "--proxy-mode" flag: must be ${PROXY_MODES.join(' or ')}`,
    );
  }
  return mode;
}

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
  const state = new ProxyState({ nodeName, settings: planSettings(values), startedAt: 0, report });
  const source = new FilesSource({ path, nodeName, localNode: () => localNode(nodeName) });
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

function conflicts(state: ProxyState): readonly Problem[] {
  return FAMILIES.flatMap(family => conflictProblems(state.family(family).planner.plans()));
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
