export * from './node.ts';
export * from './plain.ts';
export * from './read-document.ts';
export { readYaml } from './read-yaml.ts';
export * from './resolve-scalar.ts';
export * from './write-yaml.ts';
