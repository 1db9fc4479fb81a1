import { release } from 'node:os';
import { withModuleAdvice } from '../../kernel/errors.ts';
import { isOlderKernel } from '../../kernel/kernel-version.ts';
import { NftablesSocket } from '../../kernel/nftables/index.ts';
import { errorText } from '../../lib/error-text.ts';
import { FatalError } from '../../lib/fatal-error.ts';

const SKIP = 'KUBE_PROXY_NFTABLES_SKIP_KERNEL_VERSION_CHECK';
const MIN_KERNEL = [5, 13] as const;

/** Throws a `FatalError` if the machine cannot run nftables mode. */
export function checkNftables(kernel: string = release(), env: NodeJS.ProcessEnv = process.env): void {
  if (!env[SKIP] && isOlderKernel(kernel, MIN_KERNEL)) {
    const needed = `nftables mode requires kernel ${MIN_KERNEL.join('.')} or later, but this kernel is ${kernel}`;
    throw new FatalError(
      `unable to create proxier: ${needed}; set ${SKIP}=true if this kernel supports everything that the mode needs`,
    );
  }
  try {
    const socket = NftablesSocket.open({});
    try {
      socket.generation();
    } finally {
      socket.close();
    }
  } catch (error) {
    const text = errorText(withModuleAdvice(error, 'nf_tables'));
    throw new FatalError(`unable to create proxier: nf_tables cannot be used on this host: ${text}`);
  }
}
