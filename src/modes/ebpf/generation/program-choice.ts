import { namespaceCookie } from '../../../kernel/netns.ts';
import { UnavailableError } from '../links/attachment.ts';
import type { ProgramOptions } from '../programs/index.ts';
import { type SocketSupport, socketSupport } from '../support.ts';
import { type Features, programOptions } from './features.ts';
import type { TranslationOptions } from './options.ts';

/** Which programs generations get: it depends on the kernel, on the options and on the parts that Services need. */
export class ProgramChoice {
  readonly #options: TranslationOptions;
  /** What the kernel can do. It does not change while the process runs, and to try it takes milliseconds. */
  #support: SocketSupport | undefined;

  constructor(options: TranslationOptions) {
    this.#options = options;
  }

  /** The cookie of the node's network namespace. */
  get nodeCookie(): bigint {
    return namespaceCookie(this.#options.namespace);
  }

  /** Whether the kernel can refuse inside `connect`. Known as soon as there is a generation. */
  get canRefuse(): boolean {
    return this.#support?.canRefuse === true;
  }

  /** Throws an `UnavailableError` if the kernel cannot run the programs. */
  requireSupport(): void {
    if (this.#support) return;
    const support = socketSupport(this.#options);
    if ('missing' in support) throw new UnavailableError(support.missing);
    this.#support = support;
  }

  optionsFor(features: Features): ProgramOptions {
    const { sockets } = this.#options;
    return programOptions(features, { sockets, nodeCookie: this.nodeCookie, canRefuse: this.canRefuse });
  }
}
