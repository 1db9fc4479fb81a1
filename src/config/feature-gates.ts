import { FEATURE_GATES, type FeatureGate, GATE_DEPENDENCIES, type Stage } from './feature-gate-table.ts';
import { aggregate } from './validate/field-error.ts';

export { FEATURE_GATES, type FeatureGate, type Stage };

/** Which gates are on, after all that was set. */
export interface FeatureGates {
  readonly enabled: ReadonlyMap<string, boolean>;
}

/** A setting that is obeyed but has no future. */
export interface GateWarning {
  readonly message: string;
  readonly featureGate: string;
  readonly value: boolean;
}

export type AppliedGates =
  | { readonly kind: 'gates'; readonly gates: FeatureGates; readonly warnings: readonly GateWarning[] }
  | { readonly kind: 'error'; readonly message: string };

/** Gates that set all others of a stage, but for those that are named themselves. */
const ALL_OF: ReadonlyMap<string, Stage> = new Map([
  ['AllAlpha', 'ALPHA'],
  ['AllBeta', 'BETA'],
]);

export const defaultFeatureGates: FeatureGates = { enabled: new Map() };

export function isEnabled(gates: FeatureGates, name: string): boolean {
  const enabled = gates.enabled.get(name) ?? FEATURE_GATES.get(name)?.default;
  if (enabled === undefined) throw new RangeError(`no such feature gate: ${name}`);
  return enabled;
}

/** The gates as a configuration sets them, or why it may not. */
export function applyFeatureGates(settings: ReadonlyMap<string, boolean>): AppliedGates {
  const errors = settingErrors(settings);
  if (errors.length > 0) return { kind: 'error', message: aggregate(errors) };
  const enabled = new Map(settings);
  for (const [all, stage] of ALL_OF) {
    const value = settings.get(all);
    if (value === undefined) continue;
    for (const gate of FEATURE_GATES.values()) {
      if (gate.stage === stage && !settings.has(gate.name)) enabled.set(gate.name, value);
    }
  }
  const gates = { enabled };
  const broken = dependencyErrors(gates);
  if (broken.length > 0) return { kind: 'error', message: aggregate(broken) };
  return { kind: 'gates', gates, warnings: [...settings].flatMap(([name, value]) => warningsOf(name, value)) };
}

/** The gates that a help text offers: `NAME=true|false (BETA - default=true)`, sorted. */
export function knownFeatures(): string[] {
  const all = [...ALL_OF].map(([name, stage]): FeatureGate => ({ name, stage, default: false, locked: false }));
  return [...FEATURE_GATES.values(), ...all]
    .filter(({ stage }) => stage === 'ALPHA' || stage === 'BETA')
    .map(gate => `${gate.name}=true|false (${gate.stage} - default=${gate.default})`)
    .sort();
}

function settingErrors(settings: ReadonlyMap<string, boolean>): string[] {
  const errors: string[] = [];
  for (const [name, value] of settings) {
    if (ALL_OF.has(name)) continue;
    const gate = FEATURE_GATES.get(name);
    // Nothing is said about the others then.
    if (!gate) return [...errors, `unrecognized feature gate: ${name}`];
    if (gate.locked && gate.default !== value) {
      errors.push(`cannot set feature gate ${name} to ${value}, feature is locked to ${gate.default}`);
    }
  }
  return errors;
}

function dependencyErrors(gates: FeatureGates): string[] {
  return [...GATE_DEPENDENCIES].flatMap(([name, needs]) => {
    const missing = isEnabled(gates, name) ? needs.filter(need => !isEnabled(gates, need)) : [];
    if (missing.length === 0) return [];
    return [`${name} is enabled, but depends on features that are disabled: [${missing.join(' ')}]`];
  });
}

function warningsOf(featureGate: string, value: boolean): GateWarning[] {
  const stage = FEATURE_GATES.get(featureGate)?.stage;
  if (stage !== 'GA' && stage !== 'DEPRECATED') return [];
  const word = stage === 'GA' ? 'GA' : 'deprecated';
  const message = `Warning: setting ${word} feature gate. It will be removed in a future release.`;
  return [{ message, featureGate, value }];
}
