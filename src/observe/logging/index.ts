export type { Fields, Severity } from './entry.ts';
export { Logger, type LogSink } from './logger.ts';
export { DEFAULT_LOGGING, type LogControl, Logging, type LoggingSettings, type LogStreams } from './logging.ts';
export type { VModuleItem } from './verbosity.ts';
