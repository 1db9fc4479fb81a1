export * from './cidr.ts';
export * from './ip.ts';
