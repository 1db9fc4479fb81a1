import type { Family } from '../../net/index.ts';
import type { ServicePortPlan } from '../../plan/index.ts';
import type { ModeSettings } from '../mode.ts';
import { isLargeCluster } from './family-rules.ts';
import { fullText } from './full-text.ts';
import { hasLocalhostNodePorts } from './machine.ts';
import type { RestoreText } from './restore-text.ts';
import { COUNTER_NAMES, ruleOptions } from './rule-options.ts';

/** What a first start would restore, on a machine that has all that the mode can use. */
export function previewText(
  family: Family,
  plans: Iterable<ServicePortPlan>,
  settings: ModeSettings,
  localhostNodePorts = true,
): RestoreText {
  const machine = {
    localhostNodePorts: hasLocalhostNodePorts(family, localhostNodePorts, settings.nodePortAddresses),
    tcpLiberal: false,
    randomFully: true,
    counters: new Set(COUNTER_NAMES),
  };
  const isLarge = isLargeCluster(settings.endpointCount?.() ?? 0);
  return fullText(plans, ruleOptions(family, settings, machine), !isLarge);
}
