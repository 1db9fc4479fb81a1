import { printDuration } from '../../duration.ts';
import type { Connlimit } from '../connlimit.ts';
import type { Counter } from '../counter.ts';
import type { Limit } from '../limit.ts';
import type { Log } from '../log.ts';
import type { Quota } from '../quota.ts';

// The texts of statements that keep a state (counter, limit, quota, ct count), of timeouts and of log, in nft's syntax.

export function counterText({ packets = 0n, bytes = 0n }: Counter): string {
  return `counter packets ${packets} bytes ${bytes}`;
}

/** nft's default for a limit on packets. */
const DEFAULT_BURST = 5;

export function limitText({ rate, unit, burst, of, over }: Limit): string {
  const amount = of === 'bytes' ? `${bytesText(rate)}/${unit}` : `${rate}/${unit}`;
  const isDefault = burst === undefined || (of === 'packets' && burst === DEFAULT_BURST);
  const allowance = isDefault ? '' : ` burst ${of === 'bytes' ? bytesText(BigInt(burst)) : `${burst} packets`}`;
  return `limit rate ${over ? 'over ' : ''}${amount}${allowance}`;
}

export function quotaText({ bytes, consumed, over }: Quota): string {
  const used = consumed > 0n ? ` used ${bytesText(consumed)}` : '';
  return `quota ${over ? 'over ' : ''}${bytesText(bytes)}${used}`;
}

export function connlimitText({ count, over }: Connlimit): string {
  return `ct count ${over ? 'over ' : ''}${count}`;
}

export function timeoutText(milliseconds: bigint): string {
  return `timeout ${printDuration(Number(milliseconds))}`;
}

export function logText(log: Log): string {
  const parts = ['log'];
  if (log.prefix !== undefined) parts.push(`prefix "${log.prefix}"`);
  if (log.group !== undefined) parts.push(`group ${log.group}`);
  if (log.snaplen !== undefined) parts.push(`snaplen ${log.snaplen}`);
  if (log.queueThreshold !== undefined) parts.push(`queue-threshold ${log.queueThreshold}`);
  if (log.level !== undefined && log.level !== 'warn') parts.push(`level ${log.level}`);
  return [...parts, ...logFlagTexts(log.flags ?? [])].join(' ');
}

const ALL_FLAGS = 5;

function logFlagTexts(flags: NonNullable<Log['flags']>): string[] {
  if (flags.length === ALL_FLAGS) return ['flags all'];
  const texts: string[] = [];
  const tcp = [flags.includes('tcpseq') && 'sequence', flags.includes('tcpopt') && 'options'].filter(Boolean);
  if (tcp.length > 0) texts.push(`flags tcp ${tcp.join(',')}`);
  if (flags.includes('ipopt')) texts.push('flags ip options');
  if (flags.includes('uid')) texts.push('flags skuid');
  if (flags.includes('macdecode')) texts.push('flags ether');
  return texts;
}

/** Bytes in the largest unit without a fraction. */
function bytesText(bytes: bigint): string {
  const units = ['bytes', 'kbytes', 'mbytes'];
  let [amount, unit] = [bytes, 0];
  for (; unit < units.length - 1 && amount > 0n && amount % 1024n === 0n; unit++) amount /= 1024n;
  return `${amount} ${units[unit]}`;
}
