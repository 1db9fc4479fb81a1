export { addressPort, ip, ipPort, loopbackPort } from './addresses.ts';
export { describeFlags } from './describe.ts';
export { type Flag, FlagError, type FlagTable, type FlagText, type FlagType, type FlagValues, flag } from './flag.ts';
export { bool, float32, int32, level } from './numbers.ts';
export { flagTexts, type ParsedFlags, parseFlags } from './parse.ts';
export { duration, mapStringBool, oneWordOf, quantity, someOf, string, stringSlice, vmodule, word } from './texts.ts';
export { type VersionChoice, version } from './version.ts';
