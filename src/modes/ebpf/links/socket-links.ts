import { BpfLink, type BpfProgram, type ControlGroup, type Hook, type PinFolder } from '../../../kernel/bpf/index.ts';
import { KernelError } from '../../../kernel/errors.ts';
import { linkPin } from '../names.ts';

/** A program that the kernel took, with the id that the kernel gave to it. */
export interface LoadedProgram {
  readonly program: BpfProgram;
  readonly id: number;
}

export type LoadedPrograms = ReadonlyMap<Hook, LoadedProgram>;

/** Connections must not be counted before they can be counted off, so `release` comes first. */
const ORDER: readonly Hook[] = ['release', 'getpeername4', 'getpeername6', 'connect4', 'connect6'];

/** The links of the programs to one control group. Pins keep them while no process runs. */
export class SocketLinks {
  readonly #group: ControlGroup;
  /** A descriptor of the control group. */
  readonly #groupFd: number;
  readonly #folder: PinFolder | undefined;
  readonly #links = new Map<Hook, BpfLink>();

  /** Without a folder, the links end with the process. */
  constructor(group: ControlGroup, groupFd: number, folder: PinFolder | undefined) {
    this.#group = group;
    this.#groupFd = groupFd;
    this.#folder = folder;
  }

  /** Puts programs in place, one hook after another. Each connection meets the old program or the new one. */
  install(programs: LoadedPrograms): void {
    for (const hook of ORDER) {
      const loaded = programs.get(hook);
      if (loaded) this.#install(hook, loaded);
    }
    for (const hook of ORDER) if (!programs.has(hook)) this.#remove(hook);
  }

  /** Whether the program of a hook runs, also if a former process attached it. */
  isAttached(hook: Hook): boolean {
    const link = this.#links.get(hook) ?? this.#adopt(hook);
    if (!link) return false;
    this.#links.set(hook, link);
    try {
      return link.info().cgroup === this.#group.id;
    } catch (error) {
      // The pin is no link.
      if (error instanceof KernelError) return false;
      throw error;
    }
  }

  /** What another program did to the link of each program, in words. Undefined if nothing. */
  *problems(programs: LoadedPrograms): Generator<{ readonly hook: Hook; readonly problem: string | undefined }> {
    for (const [hook, { id }] of programs) yield { hook, problem: this.#problem(hook, id) };
  }

  /** Takes the programs away, also if their pins cannot be removed. */
  detach(): void {
    for (const link of this.#links.values()) this.#detach(link);
  }

  /** The links stay if they are pinned. */
  close(): void {
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }

  #problem(hook: Hook, programId: number): string | undefined {
    const info = this.#links.get(hook)?.info();
    if (!info) return `the link of ${hook} is missing`;
    if (info.cgroup === 0n) return `the link of ${hook} was detached`;
    if (info.program !== programId) return `another program was put into the link of ${hook}`;
    if (!this.#folder) return undefined;
    const pinned = this.#pinned(hook);
    if (pinned === undefined) return `the pin of the link of ${hook} was removed`;
    return pinned === info.id ? undefined : `the pin of the link of ${hook} was replaced`;
  }

  #install(hook: Hook, { program }: LoadedProgram): void {
    const former = this.#links.get(hook) ?? this.#adopt(hook);
    if (former) this.#links.set(hook, former);
    const current = former && this.#update(former, program) ? former : this.#replace(hook, former, program);
    if (this.#folder && this.#pinned(hook) !== current.info().id) this.#folder.pin(linkPin(hook), current.fd);
  }

  /** The former link is detached at once. After its last user closes it, the kernel takes some time to detach it. */
  #replace(hook: Hook, former: BpfLink | undefined, program: BpfProgram): BpfLink {
    const link = BpfLink.create(program, this.#groupFd);
    this.#links.set(hook, link);
    if (former) this.#detach(former);
    former?.close();
    return link;
  }

  /** A link that a former process pinned. */
  #adopt(hook: Hook): BpfLink | undefined {
    const fd = this.#folder?.open(linkPin(hook));
    return fd === undefined ? undefined : BpfLink.of(fd);
  }

  /** Returns false if another link must be made: this one was detached, is of another control group, or is no link. */
  #update(link: BpfLink, program: BpfProgram): boolean {
    try {
      if (link.info().cgroup !== this.#group.id) return false;
      link.update(program);
      return true;
    } catch (error) {
      if (error instanceof KernelError) return false;
      throw error;
    }
  }

  #remove(hook: Hook): void {
    const link = this.#links.get(hook) ?? this.#adopt(hook);
    this.#links.delete(hook);
    this.#folder?.unpin(linkPin(hook));
    if (!link) return;
    this.#detach(link);
    link.close();
  }

  /** Closing is not enough if another process holds the link. */
  #detach(link: BpfLink): void {
    try {
      if (link.info().cgroup === this.#group.id) link.detach();
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
    }
  }

  /** The id of the link that has the pin. */
  #pinned(hook: Hook): number | undefined {
    const fd = this.#folder?.open(linkPin(hook));
    if (fd === undefined) return undefined;
    const link = BpfLink.of(fd);
    try {
      return link.info().id;
    } finally {
      link.close();
    }
  }
}
