import { type Cidr, formatCidr, parseCidr, parseIp } from '../../net/index.ts';
import type { IptablesFamily } from './arguments.ts';
import { splitRule } from './rule-text.ts';

/** An option of a rule with its values: `! --ctstate NEW`. */
interface Option {
  readonly isNegated: boolean;
  readonly name: string;
  readonly values: readonly string[];
}

/** The options of one match or target. */
interface Part {
  readonly name: string;
  readonly options: readonly Option[];
}

/** The options that belong to no match, in the order of iptables-save. */
const GENERAL = ['-s', '-d', '-i', '-o', '-p'];
/** The order in which the match `recent` lists its options. */
const RECENT = ['--set', '--rcheck', '--update', '--seconds', '--reap', '--hitcount', '--name', '--mask', '--rsource'];
/** The order in which the match `ipvs` lists its options. It lists the protocol as a number. */
const IPVS = ['--ipvs', '--vproto', '--vaddr', '--vport'];
const PROTOCOLS: Readonly<Record<string, number>> = { tcp: 6, udp: 17, sctp: 132 };
const STATES = ['INVALID', 'NEW', 'RELATED', 'ESTABLISHED', 'UNTRACKED', 'SNAT', 'DNAT'];

/**
 * A rule in the form of iptables-save and `iptables -S`, which is not the form that iptables-restore reads: options come
 * in another order, addresses have prefix lengths, and some defaults are written out. It knows the matches and targets that
 * a proxy uses. Rules in this form can be compared. A rule that is in this form already stays as it is.
 */
export function listedRule(family: IptablesFamily, text: string): string {
  const general: Option[] = [];
  const matches: Part[] = [];
  let target: Part | undefined;
  for (const part of parts(splitRule(text), general)) {
    if (part.name.startsWith('-m ')) matches.push(listedPart(family, part));
    else target = listedPart(family, part);
  }
  const addressed = GENERAL.flatMap(name => general.filter(option => option.name === name).flatMap(listedAddress));
  const all = [...addressed.map(optionText), ...[...matches, ...(target ? [target] : [])].map(partText)];
  return all.join(' ');
}

/** The matches and the target. Adds the general options to `general`. */
function parts(words: readonly string[], general: Option[]): readonly Part[] {
  const found: { name: string; options: Option[] }[] = [];
  for (let at = 0; at < words.length; ) {
    const isNegated = words[at] === '!';
    const name = words[isNegated ? at + 1 : at] ?? '';
    at += isNegated ? 2 : 1;
    const values: string[] = [];
    while (at < words.length && !isOption(words[at] ?? '', values.length === 0)) values.push(words[at++] ?? '');
    if (name === '-m' || name === '-j' || name === '-g')
      found.push({ name: `${name} ${values[0] ?? ''}`, options: [] });
    else if (name.startsWith('--')) (found.at(-1)?.options ?? general).push({ isNegated, name, values });
    else general.push({ isNegated, name, values });
  }
  return found;
}

/** A first value may begin with a dash, as a comment may. But no value of a proxy's rule does that. */
function isOption(word: string, isFirst: boolean): boolean {
  return word === '!' || (word.startsWith('-') && !(isFirst && word.includes(' ')));
}

function listedAddress(option: Option): Option[] {
  if (option.name !== '-s' && option.name !== '-d') return [option];
  const cidr = cidrOf(option.values[0] ?? '');
  if (!cidr) return [option];
  return cidr.prefix === 0 && !option.isNegated ? [] : [{ ...option, values: [formatCidr(cidr)] }];
}

/** iptables clears the bits after the prefix. */
function cidrOf(text: string): Cidr | undefined {
  const ip = parseIp(text);
  if (ip) return parseCidr(`${ip}/${ip.includes(':') ? 128 : 32}`);
  return parseCidr(text);
}

function listedPart(family: IptablesFamily, { name, options }: Part): Part {
  switch (name) {
    case '-m recent':
      return { name, options: listedRecent(family, options) };
    case '-m ipvs':
      return { name, options: inOrder(IPVS, options.map(ipvsOption)) };
    case '-m mark':
      return {
        name,
        options: options.map(option => mapValues(option, value => value.split('/').map(number).join('/'))),
      };
    case '-m statistic':
      return {
        name,
        options: options.map(option => (option.name === '--probability' ? mapValues(option, chance) : option)),
      };
    case '-m conntrack':
      return {
        name,
        options: options.map(option => (option.name === '--ctstate' ? mapValues(option, states) : option)),
      };
    case '-j MARK':
      return { name, options: options.map(xmark) };
    case '-j REJECT':
      return options.length > 0 ? { name, options } : { name, options: [rejectWith(family)] };
    default:
      return { name, options };
  }
}

function listedRecent(family: IptablesFamily, options: readonly Option[]): readonly Option[] {
  const mask = family === 'ip' ? '255.255.255.255' : Array.from({ length: 8 }, () => 'ffff').join(':');
  const defaults = [
    { isNegated: false, name: '--mask', values: [mask] },
    { isNegated: false, name: '--rsource', values: [] },
  ];
  const all = [...options, ...defaults.filter(({ name }) => !options.some(option => option.name === name))];
  return inOrder(RECENT, all);
}

function inOrder(names: readonly string[], options: readonly Option[]): readonly Option[] {
  return options.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
}

function ipvsOption(option: Option): Option {
  if (option.name !== '--vproto') return option;
  return mapValues(option, value => `${PROTOCOLS[value] ?? value}`);
}

function rejectWith(family: IptablesFamily): Option {
  const values = [family === 'ip' ? 'icmp-port-unreachable' : 'icmp6-port-unreachable'];
  return { isNegated: false, name: '--reject-with', values };
}

function xmark(option: Option): Option {
  const value = number(option.values[0] ?? '');
  if (option.name === '--xor-mark') return { ...option, name: '--set-xmark', values: [`${value}/0x0`] };
  if (option.name === '--or-mark') return { ...option, name: '--set-xmark', values: [`${value}/${value}`] };
  return option;
}

function mapValues(option: Option, change: (value: string) => string): Option {
  return { ...option, values: option.values.map(change) };
}

function number(text: string): string {
  return /^0x[0-9a-f]+$/i.test(text) ? `0x${Number.parseInt(text, 16).toString(16)}` : text;
}

/** The kernel keeps a probability as a fraction of 2³¹. */
function chance(text: string): string {
  return (Math.round(Number(text) * 2 ** 31) / 2 ** 31).toFixed(11);
}

function states(text: string): string {
  const listed = text.split(',');
  return listed.toSorted((a, b) => STATES.indexOf(a) - STATES.indexOf(b)).join(',');
}

function partText({ name, options }: Part): string {
  return [name, ...options.map(optionText)].join(' ');
}

function optionText({ isNegated, name, values }: Option): string {
  const words = name === '--comment' ? values.map(quoted) : values;
  return [...(isNegated ? ['!'] : []), name, ...words].join(' ');
}

function quoted(word: string): string {
  return /^[\w-]+$/.test(word) ? word : `"${word.replace(/["\\']/g, '\\$&')}"`;
}
