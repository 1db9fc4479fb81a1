import { splitRule } from '../../../kernel/iptables/index.ts';
import type { Family } from '../../../net/index.ts';
import { PREFIX_LENGTH } from '../kernel-state/address-table.ts';

/**
 * The same text for a rule as the mode writes it and as iptables-save lists it. iptables-save orders options in its own
 * way, adds prefix lengths and defaults, and prints marks in another notation.
 */
export function canonicalRule(text: string, family: Family): string {
  return optionsOf(text)
    .flatMap(option => canonicalOption(option, family) ?? [])
    .sort()
    .join('\n');
}

interface Option {
  readonly isNegated: boolean;
  readonly name: string;
  readonly values: string[];
}

function optionsOf(text: string): readonly Option[] {
  const options: Option[] = [];
  let isNegated = false;
  for (const word of splitRule(text)) {
    if (word === '!') isNegated = true;
    else if (word.startsWith('-') || options.length === 0) {
      options.push({ isNegated, name: word, values: [] });
      isNegated = false;
    } else options.at(-1)?.values.push(word);
  }
  return options;
}

/** iptables-save prints these of REJECT, although nobody asked for them. */
const DEFAULT_REJECTIONS = ['icmp-port-unreachable', 'icmp6-port-unreachable'];

/** Undefined if the option means nothing: a match is loaded by its options anyway. */
function canonicalOption({ isNegated, name, values }: Option, family: Family): string | undefined {
  const value = values.join(' ');
  const print = (canonicalName: string, canonicalValue: string) =>
    `${isNegated ? '! ' : ''}${canonicalName} ${canonicalValue}`;
  switch (name) {
    case '-m':
      return undefined;
    case '--reject-with':
      return DEFAULT_REJECTIONS.includes(value) ? undefined : print(name, value);
    case '-s':
    case '-d':
    case '--vaddr':
      return print(name, value.includes('/') ? value : `${value}/${PREFIX_LENGTH[family]}`);
    case '-p':
    case '--vproto':
      return print(name, PROTOCOL_NUMBERS[value] ?? value);
    case '--mark':
    case '--set-xmark':
      return print(name, canonicalMark(value));
    case '--or-mark':
      return print('--set-xmark', canonicalMark(`${value}/${value}`));
    case '--xor-mark':
      return print('--set-xmark', canonicalMark(`${value}/0x0`));
    default:
      return print(name, value);
  }
}

const PROTOCOL_NUMBERS: Readonly<Record<string, string>> = { tcp: '6', udp: '17', sctp: '132' };

function canonicalMark(value: string): string {
  return value
    .split('/')
    .map(number => Number(number))
    .join('/');
}
