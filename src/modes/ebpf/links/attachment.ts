import {
  BPFFS,
  type ControlGroup,
  closeObject,
  isBpffs,
  nodeControlGroup,
  openControlGroup,
  PinFolder,
} from '../../../kernel/bpf/index.ts';
import { pinPath } from '../names.ts';
import { SocketLinks } from './socket-links.ts';
import { StateMapStore } from './state-maps.ts';

/** Where programs are attached, and where they are pinned. */
export interface AttachmentOptions {
  /** The control group whose processes are served. The default is the root of the machine. */
  readonly cgroupRoot?: string | undefined;
  /** Where a bpffs is mounted. */
  readonly bpffs?: string | undefined;
}

/** The mode cannot work here. The message says why, and what an operator can do. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/** One control group: the links of programs to it, and what outlives generations. */
export class Attachment {
  readonly group: ControlGroup;
  readonly links: SocketLinks;
  readonly state: StateMapStore;
  readonly #groupFd: number;
  readonly isPinned: boolean;

  private constructor(group: ControlGroup, folder: PinFolder | undefined, notice: (message: string) => void) {
    this.group = group;
    this.isPinned = folder !== undefined;
    this.#groupFd = openControlGroup(group);
    this.links = new SocketLinks(group, this.#groupFd, folder);
    this.state = new StateMapStore(folder, notice);
  }

  /** Opens what a former process left, if there is anything. Attaches nothing yet. */
  static open({ cgroupRoot, bpffs = BPFFS }: AttachmentOptions, notice: (message: string) => void): Attachment {
    const group = nodeControlGroup(cgroupRoot);
    if ('missing' in group) throw new UnavailableError(group.missing);
    const folder = isBpffs(bpffs) ? new PinFolder(pinPath(bpffs, group.id)) : undefined;
    if (!folder) {
      notice(
        `no bpffs is mounted at ${bpffs}: sockets are translated only while this process runs; ` +
          'mount one (mount -t bpf bpf /sys/fs/bpf) to bridge restarts',
      );
    }
    return new Attachment(group, folder, notice);
  }

  /** Pinned links and maps stay. */
  close(): void {
    this.links.close();
    this.state.close();
    closeObject(this.#groupFd);
  }
}
