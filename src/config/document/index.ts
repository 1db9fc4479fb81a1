export * from './node.ts';
export * from './read-document.ts';
export * from './resolve-scalar.ts';
