import type { Node } from '../api/index.ts';
import {
  type Algorithm,
  chooseLocalDetectors,
  detectNodeIPs,
  type LocalDetectorConfig,
  type NodeIPs,
  zoneOf,
} from '../model/index.ts';
import { FAMILIES, type Family } from '../net/index.ts';
import type { PlanOptions } from './service-port-plan.ts';

/** The configuration that plans depend on. */
export interface PlanSettings extends Omit<LocalDetectorConfig, 'podCIDRs'> {
  readonly bindAddress: string;
  readonly masqueradeAll: boolean;
  readonly allowExternalIPs: boolean;
  /** The algorithm of Services that choose none. The default is what the mode does without a choice. */
  readonly defaultAlgorithm?: Algorithm | undefined;
  /** What the mode can do. The default is everything. */
  readonly algorithms?: readonly Algorithm[] | undefined;
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
  /** Something about the local detectors that the operator should know. */
  readonly notice: string | undefined;
  readonly families: Readonly<Record<Family, PlanOptions>>;
}

/** Derives the options of both families from the configuration and the Node. */
export function derivePlanOptions(settings: PlanSettings, nodeName: string, node: Node | undefined): NodePlanOptions {
  const nodeIPs = detectNodeIPs(node, settings.bindAddress);
  const detectors = chooseLocalDetectors({ ...settings, podCIDRs: node?.podCIDRs ?? [] }, nodeIPs.primary);
  const options = (family: Family): PlanOptions => ({
    node: { name: nodeName, zone: zoneOf(node) },
    nodeIP: nodeIPs[family],
    localDetector: detectors[family],
    masqueradeAll: settings.masqueradeAll,
    allowExternalIPs: settings.allowExternalIPs,
    defaultAlgorithm: settings.defaultAlgorithm,
    algorithms: settings.algorithms,
  });
  return { nodeIPs, notice: detectors.notice, families: { IPv4: options('IPv4'), IPv6: options('IPv6') } };
}

export function samePlanOptions(a: NodePlanOptions, b: NodePlanOptions): boolean {
  return FAMILIES.every(family => JSON.stringify(a.families[family]) === JSON.stringify(b.families[family]));
}
