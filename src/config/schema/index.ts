export * from './compounds.ts';
export * from './durations.ts';
export * from './scalars.ts';
export * from './type.ts';
