export { clusterIPOfFamily, convertService, shouldSkipService } from './convert-service.ts';
export { type Endpoint, sameEndpoints } from './endpoint.ts';
export { checkFamilies, checkNodePortAddresses, type FamilyConfig, type FamilyFinding } from './family-checks.ts';
export {
  chooseLocalDetectors,
  type LocalDetector,
  type LocalDetectorConfig,
  type LocalDetectors,
} from './local-detector.ts';
export type { PortEndpoints } from './merge-endpoints.ts';
export { Model, type ModelDiff, type ModelOptions, type ServiceState } from './model.ts';
export * from './node.ts';
export {
  type NodePortAddresses,
  parseNodePortAddresses,
  resolveNodePortKeywords,
  selectNodePortIPs,
} from './node-port-addresses.ts';
export { ALGORITHMS, type Algorithm, type HashInput } from './service-options.ts';
export {
  isExternallyAccessible,
  type ServicePort,
  sameServicePort,
  servicePortName,
  usesClusterEndpoints,
  usesLocalEndpoints,
} from './service-port.ts';
