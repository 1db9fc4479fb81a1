export * from './compounds.ts';
export * from './parsed-texts.ts';
export * from './scalars.ts';
export * from './type.ts';
