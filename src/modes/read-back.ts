/** One object that the mode wants in the kernel for a service port, that the kernel has, or both. */
export interface KernelEntry {
  /** `element`, `rule`, `chain`, `virtual server`, `real server`, `set entry`, `address`, `listener`. */
  readonly kind: string;
  /** Where it is, in the words of the tool that lists it: `map ip kube-proxy service-numbers`, `chain nat KUBE-SVC-…`. */
  readonly place: string;
  /** What the mode wants there, as that tool prints it. Undefined if the mode wants nothing like it. */
  readonly wanted: string | undefined;
  /** What the kernel has there, as that tool prints it. Undefined if the kernel lacks it. */
  readonly found: string | undefined;
}

/** What the kernel holds for one service port, read just now, beside what the mode wants. */
export interface KernelReading {
  readonly entries: readonly KernelEntry[];
  /** Why the mode did not read everything. Undefined if it did. */
  readonly incomplete?: string | undefined;
}

export type EntryState = 'equal' | 'missing' | 'different' | 'unexpected';

export function entryState({ wanted, found }: KernelEntry): EntryState {
  if (wanted === found) return 'equal';
  if (found === undefined) return 'missing';
  return wanted === undefined ? 'unexpected' : 'different';
}
