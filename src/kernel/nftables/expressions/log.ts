import { asString, asU16BE, asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { flagNames, names, withoutUndefined } from './names.ts';

const LEVELS = { emerg: 0, alert: 1, crit: 2, err: 3, warn: 4, notice: 5, info: 6, debug: 7, audit: 8 } as const;
const FLAG_BITS = { tcpseq: 0x1, tcpopt: 0x2, ipopt: 0x4, uid: 0x8, macdecode: 0x20 } as const;

export type LogLevel = keyof typeof LEVELS;
export type LogFlag = keyof typeof FLAG_BITS;

/** Writes about the packet to the kernel's log. With a group, sends it to the programs that listen to that group. */
export interface Log {
  readonly kind: 'log';
  readonly prefix?: string;
  readonly group?: number;
  readonly snaplen?: number;
  readonly queueThreshold?: number;
  readonly level?: LogLevel;
  readonly flags?: readonly LogFlag[];
}

const GROUP = 1;
const PREFIX = 2;
const SNAPLEN = 3;
const QTHRESHOLD = 4;
const LEVEL = 5;
const FLAGS = 6;

const levels = names(LEVELS);
const logFlags = flagNames(FLAG_BITS);

export const log: Codec<Log> = {
  name: 'log',
  highest: FLAGS,

  encode(writer, { prefix, group, snaplen, queueThreshold, level, flags }) {
    if (prefix !== undefined) writer.string(PREFIX, prefix);
    if (group !== undefined) writer.u16BE(GROUP, group);
    if (snaplen !== undefined) writer.u32BE(SNAPLEN, snaplen);
    if (queueThreshold !== undefined) writer.u16BE(QTHRESHOLD, queueThreshold);
    if (level !== undefined) writer.u32BE(LEVEL, levels.number(level));
    if (flags !== undefined) writer.u32BE(FLAGS, logFlags.bits(flags));
  },

  decode(attributes) {
    const level = asU32BE(attributes.get(LEVEL));
    const flags = logFlags.flags(asU32BE(attributes.get(FLAGS)) ?? 0);
    if (!flags || (level !== undefined && !levels.name(level))) return undefined;
    const fields = withoutUndefined({
      prefix: asString(attributes.get(PREFIX)),
      group: asU16BE(attributes.get(GROUP)),
      // If the rule does not have these two, the kernel lists zero.
      snaplen: asU32BE(attributes.get(SNAPLEN)) || undefined,
      queueThreshold: asU16BE(attributes.get(QTHRESHOLD)) || undefined,
      level: levels.name(level),
      flags: flags.length > 0 ? flags : undefined,
    });
    return { kind: 'log', ...fields };
  },

  print({ prefix, group, snaplen, queueThreshold, level, flags }) {
    const parts = ['log'];
    if (prefix !== undefined) parts.push(`prefix ${prefix}`);
    if (group !== undefined) parts.push(`group ${group} snaplen ${snaplen ?? 0} qthreshold ${queueThreshold ?? 0}`);
    else if (level !== undefined) parts.push(`level ${levels.number(level)}`);
    parts.push(...(flags ?? []));
    return parts.join(' ');
  },
};
