export { ClusterSource, type ClusterSourceOptions, type Following } from './cluster.ts';
export { ALL_RESOURCES } from './cluster-resources.ts';
export { withDefaults } from './defaults.ts';
export { FilesSource, type FilesSourceOptions } from './files.ts';
export { type Manifest, manifestKey } from './parse-manifests.ts';
export { type ManifestSnapshot, readManifests, readManifestText } from './read-manifests.ts';
export {
  ENDPOINT_SLICE_LABEL_SELECTOR,
  isSelected,
  nodeFieldSelector,
  SERVICE_FIELD_SELECTOR,
  SERVICE_LABEL_SELECTOR,
} from './selectors.ts';
export * from './source.ts';
