import { close } from '../libc.ts';
import { loneProgram } from './attached-programs.ts';
import { bpfError } from './error.ts';
import { LinkInfoLayout, objectInfo } from './object-info.ts';
import { type BpfProgram, HOOKS, type Hook } from './program.ts';
import { bpf, callBpf } from './system-call.ts';

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

  /** `cgroup` is a descriptor of the control group's directory. Other programs may be attached there too. */
  static create(program: BpfProgram, cgroup: number): BpfLink {
    const { hook } = program;
    const attachType = HOOKS[hook].attach;
    const { result, errno } = callBpf('LINK_CREATE', { program: program.fd, target: cgroup, attachType });
    if (errno === undefined) return new BpfLink(result);
    throw bpfError('LINK_CREATE', hook, errno, {
      advice: errno === 'EPERM' ? neighbourAdvice(cgroup, hook) : undefined,
    });
  }

  /** Takes a descriptor over. */
  static of(fd: number): BpfLink {
    return new BpfLink(fd);
  }

  /** Puts another program in place, in one step. */
  update(program: BpfProgram): void {
    bpf('LINK_UPDATE', program.hook, { link: this.fd, program: program.fd });
  }

  info(): LinkInfo {
    const info = objectInfo(this.fd, LinkInfoLayout);
    return { id: info.number('id'), program: info.number('program'), cgroup: info.big('cgroup') };
  }

  /** Takes the program away from the control group, also if the link is pinned. */
  detach(): void {
    bpf('LINK_DETACH', 'link', { link: this.fd });
  }

  close(): void {
    close(this.fd);
  }
}

function neighbourAdvice(cgroup: number, hook: Hook): string | undefined {
  const lone = loneProgram(cgroup, hook);
  if (!lone) return undefined;
  const program = lone.name === undefined ? `program ${lone.id}` : `program ${lone.id} (${lone.name})`;
  return `detach ${program} from the control group, or attach it so that it allows others (BPF_F_ALLOW_MULTI)`;
}
