import type { Node } from '../api/index.ts';
import { detectNodeIPs, type LocalDetectorConfig, localDetectors, type NodeIPs, zoneOf } from '../model/index.ts';
import { FAMILIES, type Family } from '../net/index.ts';
import type { PlanOptions } from './service-port-plan.ts';

/** The configuration that plans depend on. */
export interface PlanSettings extends Omit<LocalDetectorConfig, 'podCIDRs'> {
  readonly bindAddress: string;
  readonly masqueradeAll: boolean;
  readonly allowExternalIPs: boolean;
}

export const DEFAULT_PLAN_SETTINGS: PlanSettings = {
  mode: 'ClusterCIDR',
  clusterCIDRs: [],
  bridgeInterface: '',
  interfaceNamePrefix: '',
  bindAddress: '0.0.0.0',
  masqueradeAll: false,
  allowExternalIPs: true,
};

export interface NodePlanOptions {
  readonly nodeIPs: NodeIPs;
  /** What an operator should know of the choice of local detectors. */
  readonly notice: string | undefined;
  readonly families: Readonly<Record<Family, PlanOptions>>;
}

/** What plans of both families depend on, from the configuration and what is known of the node. */
export function planOptions(settings: PlanSettings, nodeName: string, node: Node | undefined): NodePlanOptions {
  const nodeIPs = detectNodeIPs(node, settings.bindAddress);
  const detectors = localDetectors({ ...settings, podCIDRs: node?.podCIDRs ?? [] }, nodeIPs.primary);
  const options = (family: Family): PlanOptions => ({
    node: { name: nodeName, zone: zoneOf(node) },
    nodeIP: nodeIPs[family],
    localDetector: detectors[family],
    masqueradeAll: settings.masqueradeAll,
    allowExternalIPs: settings.allowExternalIPs,
  });
  return { nodeIPs, notice: detectors.notice, families: { IPv4: options('IPv4'), IPv6: options('IPv6') } };
}

export function samePlanOptions(a: NodePlanOptions, b: NodePlanOptions): boolean {
  return FAMILIES.every(family => JSON.stringify(a.families[family]) === JSON.stringify(b.families[family]));
}
