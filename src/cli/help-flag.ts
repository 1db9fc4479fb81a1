import { bool } from './flags/index.ts';

export const HELP_FLAG = { help: { type: bool, default: false, shorthand: 'h', usage: 'this help' } };
