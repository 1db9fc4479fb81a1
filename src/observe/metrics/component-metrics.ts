import type { MetricSet } from './metric-set.ts';

/** The labels of `kubernetes_build_info`, which every component of Kubernetes has. */
export interface BuildInfo {
  readonly major: string;
  readonly minor: string;
  readonly git_version: string;
  readonly git_commit: string;
  readonly git_tree_state: string;
  readonly build_date: string;
  readonly go_version: string;
  readonly compiler: string;
  readonly platform: string;
}

export interface Feature {
  readonly name: string;
  /** `ALPHA`, `BETA` or `DEPRECATED`. Empty if it is generally available. */
  readonly stage: string;
  readonly enabled: boolean;
}

/** The metrics that every component of Kubernetes has about itself. */
export function componentMetrics(set: MetricSet, build: BuildInfo, features: readonly Feature[]): void {
  const labels = Object.keys(build) as (keyof BuildInfo)[];
  set
    .gauge(
      'kubernetes_build_info',
      labels,
      "[BETA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
    )
    .set({ ...build }, 1);
  const enabled = set.gauge(
    'kubernetes_feature_enabled',
    ['name', 'stage'],
    '[BETA] This metric records the data about the stage and enablement of a k8s feature.',
  );
  for (const { name, stage, enabled: on } of features) enabled.set({ name, stage }, on ? 1 : 0);
}
