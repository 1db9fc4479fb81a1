export * from './write-yaml.ts';
