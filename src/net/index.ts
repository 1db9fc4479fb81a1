export * from './cidr.ts';
export * from './ip.ts';
export * from './special-range.ts';
