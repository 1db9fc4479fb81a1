export interface PortRange {
  readonly first: number;
  /** Itself part of the range. */
  readonly last: number;
}

const HIGHEST_PORT = 65_535;

/** `first-last`, `first+count` or one port. `any` if the text leaves the choice to the kernel, undefined if it is none. */
export function parsePortRange(text: string): PortRange | 'any' | undefined {
  const trimmed = text.trim();
  if (['', '0', '0-0'].includes(trimmed)) return 'any';
  const [, start = '', sign, end = ''] = /^(\d{1,5})(?:([-+])(\d{1,5}))?$/.exec(trimmed) ?? [];
  if (start === '') return undefined;
  const first = Number(start);
  const last = sign === '+' ? first + Number(end) : sign === '-' ? Number(end) : first;
  return last >= first && last <= HIGHEST_PORT ? { first, last } : undefined;
}
