import { FEATURE_GATES } from '../../config/index.ts';
import { MODES } from '../../modes/index.ts';
import type { Command } from '../command.ts';
import type { Flag, FlagTable } from '../flags/index.ts';
import { KUBE_PROXY_FLAGS } from '../kube-proxy/flags/index.ts';

/** How a shell completes the value of a flag. */
export type Values =
  | { readonly kind: 'none' }
  | { readonly kind: 'files' }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** Words with a comma between them. */
  | { readonly kind: 'list'; readonly words: readonly string[] };

export interface CompletedFlag {
  readonly name: string;
  readonly shorthand: string | undefined;
  /** One line. */
  readonly text: string;
  /** Undefined if the flag needs no value. */
  readonly values: Values | undefined;
}

export interface CompletedCommand {
  readonly name: string;
  readonly text: string;
  readonly words: readonly string[];
  readonly flags: readonly CompletedFlag[];
}

/** Everything that the scripts contain. */
export interface Completions {
  /** The flags of the program without a command. */
  readonly flags: readonly CompletedFlag[];
  readonly commands: readonly CompletedCommand[];
}

const FILES: readonly string[] = [
  'cgroup-root',
  'config',
  'inspect-socket',
  'kubeconfig',
  'manifests',
  'page-tls-cert-file',
  'page-tls-key-file',
  'page-token-file',
  'tls-cert-file',
  'tls-key-file',
  'token-file',
  'write-config-to',
];

/** The values of flags that upstream has too. Our own flags have theirs in their tables. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  'proxy-mode': MODES.map(({ name }) => name),
  'detect-local-mode': ['ClusterCIDR', 'NodeCIDR', 'BridgeInterface', 'InterfaceNamePrefix'],
  'logging-format': ['text', 'json'],
  'ipvs-scheduler': ['rr', 'wrr', 'lc', 'wlc', 'sh', 'mh', 'dh', 'sed', 'nq', 'fo', 'ovf', 'lblc', 'lblcr'],
};

export function completionsOf(commands: readonly Command[]): Completions {
  return {
    flags: completedFlags(KUBE_PROXY_FLAGS),
    commands: commands.map(({ name, summary, words, flags }) => ({
      name,
      text: summary,
      words,
      flags: completedFlags(flags),
    })),
  };
}

function completedFlags(table: FlagTable): readonly CompletedFlag[] {
  return Object.entries(table)
    .filter(([, { deprecated }]) => !deprecated)
    .map(([name, flag]) => ({
      name,
      shorthand: flag.shorthand,
      text: firstSentence(flag.usage),
      values: flag.type.bare === undefined ? valuesOf(name, flag) : undefined,
    }));
}

function valuesOf(name: string, flag: Flag<unknown>): Values {
  if (FILES.includes(name)) return { kind: 'files' };
  if (name === 'feature-gates') return { kind: 'list', words: gateSettings() };
  const words = flag.words ?? WORDS[name];
  if (!words) return { kind: 'none' };
  return { kind: flag.type.word === 'strings' ? 'list' : 'words', words };
}

/** `Gate=true` and `Gate=false` for each feature gate that can be set. */
function gateSettings(): readonly string[] {
  const settable = [...FEATURE_GATES.values()].filter(
    ({ stage, locked }) => !locked && (stage === 'ALPHA' || stage === 'BETA'),
  );
  return settable
    .map(({ name }) => name)
    .sort()
    .flatMap(name => [`${name}=true`, `${name}=false`]);
}

function firstSentence(usage: string): string {
  return usage.split(/\. |\.$|\n/, 1)[0] ?? '';
}
