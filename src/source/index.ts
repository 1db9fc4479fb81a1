export { ClusterSource, type ClusterSourceOptions, type Following } from './cluster.ts';
export { withDefaults } from './defaults.ts';
export { FilesSource, type FilesSourceOptions } from './files.ts';
export {
  ENDPOINT_SLICE_LABEL_SELECTOR,
  isSelected,
  nodeFieldSelector,
  SERVICE_FIELD_SELECTOR,
  SERVICE_LABEL_SELECTOR,
} from './selectors.ts';
export * from './source.ts';
