import { close } from '../libc.ts';
import { objectInfo } from './object-info.ts';
import { type BpfProgram, HOOKS, type Hook } from './program.ts';
import { Attributes, bpf } from './system-call.ts';

export interface LinkInfo {
  readonly id: number;
  /** The id of the program. */
  readonly program: number;
  /** The id of the control group. 0 if someone detached the link. */
  readonly cgroup: bigint;
}

/** A program attached to a control group, held by a descriptor and perhaps by a pin. */
export class BpfLink {
  readonly fd: number;

  private constructor(fd: number) {
    this.fd = fd;
  }

  /** `cgroup` is a descriptor of the control group's directory. */
  static create(program: BpfProgram, cgroup: number): BpfLink {
    const attributes = new Attributes(48).u32(0, program.fd).u32(4, cgroup).u32(8, HOOKS[program.hook].attach);
    return new BpfLink(bpf('LINK_CREATE', program.hook, attributes));
  }

  /** Takes a descriptor over. */
  static of(fd: number): BpfLink {
    return new BpfLink(fd);
  }

  /** Puts another program in place, in one step. */
  update(program: BpfProgram): void {
    bpf('LINK_UPDATE', program.hook, new Attributes(16).u32(0, this.fd).u32(4, program.fd));
  }

  info(): LinkInfo {
    const bytes = objectInfo(this.fd, 64);
    return { id: bytes.readUInt32LE(4), program: bytes.readUInt32LE(8), cgroup: bytes.readBigUInt64LE(16) };
  }

  /** Takes the program away from the control group, also if the link is pinned. */
  detach(): void {
    bpf('LINK_DETACH', 'link', new Attributes(4).u32(0, this.fd));
  }

  close(): void {
    close(this.fd);
  }
}

/** The ids of the programs that are attached to a control group. */
export function attachedPrograms(cgroup: number, hook: Hook): readonly number[] {
  const most = 64;
  const ids = Buffer.alloc(most * 4);
  const attributes = new Attributes(64).u32(0, cgroup).u32(4, HOOKS[hook].attach).pointer(16, ids).u32(24, most);
  bpf('PROG_QUERY', hook, attributes);
  return Array.from({ length: attributes.bytes.readUInt32LE(24) }, (_, i) => ids.readUInt32LE(i * 4));
}
