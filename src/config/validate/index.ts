export * from './field-error.ts';
export { validateLogging } from './logging.ts';
export { validateConfiguration } from './validate.ts';
