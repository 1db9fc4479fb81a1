import { BPFFS, BpfLink, nodeControlGroup, PinFolder } from '../../../kernel/bpf/index.ts';
import { KernelError } from '../../../kernel/errors.ts';
import { isLinkPin, pinPath } from '../names.ts';
import type { AttachmentOptions } from './attachment.ts';

/** The pinned links of a control group. */
export class LinkPins {
  readonly #folder: PinFolder;

  constructor(folder: PinFolder) {
    this.#folder = folder;
  }

  /**
   * There are no links, or the kernel detached them all because the control group is gone. A link that the process may
   * not open may serve.
   */
  get isAbandoned(): boolean {
    return this.#names().every(name => this.#withLink(name, link => link.info().cgroup === 0n) === true);
  }

  /** Takes the programs away. Removing the pin is not enough if another process holds the link. */
  remove(): void {
    for (const name of this.#names()) {
      this.#withLink(name, link => {
        if (link.info().cgroup !== 0n) link.detach();
      });
      this.#folder.unpin(name);
    }
  }

  #names(): readonly string[] {
    return this.#folder.names().filter(isLinkPin);
  }

  /** Undefined if the pin is no link, or if the process may not open it. */
  #withLink<T>(name: string, work: (link: BpfLink) => T): T | undefined {
    try {
      const fd = this.#folder.open(name);
      if (fd === undefined) return undefined;
      const link = BpfLink.of(fd);
      try {
        return work(link);
      } finally {
        link.close();
      }
    } catch (error) {
      if (error instanceof KernelError) return undefined;
      throw error;
    }
  }
}

/** Takes away the programs that a former process left. */
export function removeLinkPins({ cgroupRoot, bpffs = BPFFS }: AttachmentOptions): void {
  const group = nodeControlGroup(cgroupRoot);
  if (!('missing' in group)) new LinkPins(new PinFolder(pinPath(bpffs, group.id))).remove();
}
