import { readFileSync } from 'node:fs';
import { BtfReader } from './btf-reader.ts';

const KERNEL_BTF = '/sys/kernel/btf/vmlinux';

/**
 * The types of the running kernel, which differ from kernel to kernel. Undefined if the kernel publishes none. Reading
 * takes some 20 ms and 5 MB: keep what was found, not the types.
 */
export function readKernelTypes(file = KERNEL_BTF): BtfReader | undefined {
  try {
    return BtfReader.of(readFileSync(file));
  } catch {
    return undefined;
  }
}
