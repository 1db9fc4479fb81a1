import { parseArgs } from 'node:util';
import { CONNECTIONS, MAIN_LIST, type Selection, SHORT_SELECTION } from './selections.ts';

export const USAGE = `usage: npm run conformance [-- FLAGS]

Runs Kubernetes' own network tests in a real cluster of three nodes on this machine, and compares the results with
recorded results of upstream's kube-proxy. Exits with 1 if a test fails that passes with upstream's.
  --proxy-mode M  nftables (the default), iptables, userspace or ebpf
  --short         a selection of about ten minutes
  --focus REGEX   the suitable tests of Kubernetes whose names match
  --as HOW        pods (the default): a DaemonSet of the image; process: a program on each node
  --while-it-runs tests of connections only; meanwhile Pointsman replaces upstream's kube-proxy, restarts, and changes
                  its mode, and no other connection may fail
  --upstream      upstream's kube-proxy instead of Pointsman
  --record        writes the results of upstream's kube-proxy into the project
  --procs N       so many tests at the same time; the default is 4 for each processor
  --keep          leaves the cluster running after the tests, until Ctrl-C
  --output DIR    the folder for results and logs; the default is build/conformance-results
  --no-install    installs and builds nothing`;

const MODES = ['nftables', 'iptables', 'userspace', 'ebpf'] as const;
const WAYS = ['pods', 'process'] as const;
const PROCS_FOR_EACH_PROCESSOR = 4;

export type Mode = (typeof MODES)[number];
export type Way = (typeof WAYS)[number];

export interface Arguments {
  readonly mode: Mode;
  readonly way: Way;
  readonly selection: Selection;
  readonly isUpstream: boolean;
  readonly whileItRuns: boolean;
  readonly records: boolean;
  readonly procs: number;
  readonly keep: boolean;
  readonly output: string;
}

/** Returns undefined if the user asks for help. Throws an Error that says what is wrong. */
export function readArguments(args: readonly string[], processors: number): Arguments | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', default: false },
      'proxy-mode': { type: 'string', default: 'nftables' },
      short: { type: 'boolean', default: false },
      focus: { type: 'string' },
      as: { type: 'string', default: 'pods' },
      'while-it-runs': { type: 'boolean', default: false },
      upstream: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
      procs: { type: 'string', default: `${PROCS_FOR_EACH_PROCESSOR * processors}` },
      keep: { type: 'boolean', default: false },
      output: { type: 'string', default: 'build/conformance-results' },
      'no-install': { type: 'boolean' },
    },
  });
  if (values.help) return undefined;
  const isUpstream = values.upstream;
  const whileItRuns = values['while-it-runs'];
  if (whileItRuns && (isUpstream || values.as !== 'pods' || values['proxy-mode'] !== 'nftables')) {
    throw new Error('--while-it-runs chooses the proxies itself: leave --upstream, --as and --proxy-mode out');
  }
  if (values.record && !isUpstream) throw new Error('--record records only upstream: add --upstream');
  const mode = oneOf(MODES, values['proxy-mode'], '--proxy-mode');
  if (isUpstream && mode !== 'nftables' && mode !== 'iptables') throw new Error(`upstream has no ${mode} mode here`);
  const procs = Number(values.procs);
  if (!Number.isInteger(procs) || procs < 1) throw new Error(`--procs must be a whole number, and is ${values.procs}`);
  return {
    ...{ mode, isUpstream, whileItRuns, procs, way: oneOf(WAYS, values.as, '--as') },
    ...{ selection: selectionOf(values), records: values.record, keep: values.keep, output: values.output },
  };
}

interface SelectingFlags {
  readonly short: boolean;
  readonly focus?: string | undefined;
  readonly 'while-it-runs': boolean;
}

function selectionOf({ short, focus, 'while-it-runs': whileItRuns }: SelectingFlags): Selection {
  if (focus === undefined && whileItRuns) return CONNECTIONS;
  if (focus === undefined) return short ? SHORT_SELECTION : MAIN_LIST;
  if (short) throw new Error('--short and --focus exclude each other');
  return { ...MAIN_LIST, focus: new RegExp(focus).source };
}

function oneOf<T extends string>(allowed: readonly T[], value: string, flag: string): T {
  const found = allowed.find(name => name === value);
  if (found === undefined) throw new Error(`${flag} must be one of ${allowed.join(', ')}, and is ${value}`);
  return found;
}
