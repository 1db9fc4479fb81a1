import { GATE_DEPENDENCIES } from './feature-gate-dependencies.ts';
import { FEATURE_GATES, type FeatureGate, FORMER_GATES, NEWLY_LOCKED_GATES, type Stage } from './feature-gate-table.ts';
import { aggregate } from './validate/field-error.ts';

export { FEATURE_GATES, type FeatureGate, type Stage };

/** The gates that a configuration decided. All others have their default. */
export interface FeatureGates {
  readonly enabled: ReadonlyMap<string, boolean>;
}

/** A gate that takes effect, but that a future release will remove. */
export interface GateWarning {
  readonly message: string;
  readonly featureGate: string;
  readonly value: boolean;
}

export type AppliedGates =
  | { readonly kind: 'gates'; readonly gates: FeatureGates; readonly warnings: readonly GateWarning[] }
  | { readonly kind: 'error'; readonly message: string };

/** Each of these gates sets all gates of a stage that are not set by name. */
const STAGE_GATES: ReadonlyMap<string, Stage> = new Map([
  ['AllAlpha', 'ALPHA'],
  ['AllBeta', 'BETA'],
]);

export const defaultFeatureGates: FeatureGates = { enabled: new Map() };

export function isEnabled(gates: FeatureGates, name: string): boolean {
  const enabled = gates.enabled.get(name) ?? FEATURE_GATES.get(name)?.default;
  if (enabled === undefined) throw new RangeError(`unknown feature gate: ${name}`);
  return enabled;
}

/** Applies the gates that a configuration sets. Returns an error if it must not set them. */
export function applyFeatureGates(settings: ReadonlyMap<string, boolean>): AppliedGates {
  const errors = settingErrors(settings);
  if (errors.length > 0) return { kind: 'error', message: aggregate(errors) };
  const gates = { enabled: withStages(settings) };
  const missing = dependencyErrors(gates);
  if (missing.length > 0) return { kind: 'error', message: aggregate(missing) };
  return { kind: 'gates', gates, warnings: [...settings].flatMap(([name, value]) => warningsOf(name, value)) };
}

function withStages(settings: ReadonlyMap<string, boolean>): ReadonlyMap<string, boolean> {
  const enabled = new Map([...settings].filter(([name, value]) => !breaksLock(knownGate(name), value)));
  const setByStage: string[] = [];
  for (const [all, stage] of STAGE_GATES) {
    const value = settings.get(all);
    if (value === undefined) continue;
    for (const { name } of [...FEATURE_GATES.values()].filter(
      gate => gate.stage === stage && !settings.has(gate.name),
    )) {
      enabled.set(name, value);
      if (value) setByStage.push(name);
    }
  }
  // In v1.37 alpha gates need a beta gate that is off, which was an alpha gate in v1.36. Without this loop, a command
  // line for v1.36 with AllAlpha=true would be refused.
  for (const name of setByStage) {
    for (const need of GATE_DEPENDENCIES.get(name) ?? []) if (!enabled.has(need)) enabled.set(need, true);
  }
  return enabled;
}

/** Lines for a help text, sorted: `NAME=true|false (BETA - default=true)`. */
export function knownFeatures(): string[] {
  const all = [...STAGE_GATES].map(([name, stage]): FeatureGate => ({ name, stage, default: false, locked: false }));
  return [...FEATURE_GATES.values(), ...all]
    .filter(({ stage }) => stage === 'ALPHA' || stage === 'BETA')
    .map(helpLine)
    .sort();
}

/** The gates whose default would be the other one if every program of the cluster had this version. */
const DEFAULTS_OF_A_WHOLE_CLUSTER: ReadonlyMap<string, boolean> = new Map([['DRAFractionalCapacityRange', true]]);

function helpLine({ name, stage, default: value }: FeatureGate): string {
  const line = (shown: boolean) => `${name}=true|false (${stage} - default=${shown})`;
  const whole = DEFAULTS_OF_A_WHOLE_CLUSTER.get(name);
  return whole === undefined ? line(value) : `${line(value)}, or ${line(whole)} if --min-compatibility-version>=1.37`;
}

/** A gate of this version, or one that only the version before had. */
function knownGate(name: string): FeatureGate | undefined {
  return FEATURE_GATES.get(name) ?? FORMER_GATES.get(name);
}

function settingErrors(settings: ReadonlyMap<string, boolean>): string[] {
  const errors: string[] = [];
  for (const [name, value] of settings) {
    if (STAGE_GATES.has(name)) continue;
    const gate = knownGate(name);
    // Upstream ignores all gates after an unknown one. So does this.
    if (!gate) return [...errors, `unrecognized feature gate: ${name}`];
    if (breaksLock(gate, value) && !NEWLY_LOCKED_GATES.has(name)) {
      errors.push(`cannot set feature gate ${name} to ${value}, feature is locked to ${gate.default}`);
    }
  }
  return errors;
}

function breaksLock(gate: FeatureGate | undefined, value: boolean): boolean {
  return gate?.locked === true && gate.default !== value;
}

function dependencyErrors(gates: FeatureGates): string[] {
  return [...GATE_DEPENDENCIES].flatMap(([name, needs]) => {
    const missing = isEnabled(gates, name) ? needs.filter(need => !isEnabled(gates, need)) : [];
    if (missing.length === 0) return [];
    return [`${name} is enabled, but depends on features that are disabled: [${missing.join(' ')}]`];
  });
}

function warningsOf(featureGate: string, value: boolean): GateWarning[] {
  const gate = knownGate(featureGate);
  if (breaksLock(gate, value)) {
    return [
      { message: `The feature gate is locked to ${!value}. The setting has no effect: remove it.`, featureGate, value },
    ];
  }
  const stage = gate?.stage;
  if (stage !== 'GA' && stage !== 'DEPRECATED') return [];
  const word = stage === 'GA' ? 'GA' : 'deprecated';
  const message = `Warning: setting ${word} feature gate. It will be removed in a future release.`;
  return [{ message, featureGate, value }];
}
