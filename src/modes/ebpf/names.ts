import type { Hook } from '../../kernel/bpf/index.ts';
import type { MapName } from './programs/index.ts';

/** The folder of the bpffs that has all pins of this mode, one folder for each control group. */
export const PIN_FOLDER = 'pointsman';

const CONTROL_GROUP_FOLDER = /^cgroup-\d+$/;

/** The folder `pointsman/cgroup-1`, in a bpffs. */
export function pinPath(bpffs: string, controlGroup: bigint): string {
  return `${bpffs}/${PIN_FOLDER}/cgroup-${controlGroup}`;
}

export function isPinFolderName(name: string): boolean {
  return CONTROL_GROUP_FOLDER.test(name);
}

/** The id of the control group, which is also the inode number of its folder. */
export function controlGroupOf(pinFolderName: string): string {
  return pinFolderName.replace('cgroup-', '');
}

const LINK_PREFIX = 'link-';

/** `link-connect4` */
export function linkPin(hook: Hook): string {
  return `${LINK_PREFIX}${hook}`;
}

export function isLinkPin(name: string): boolean {
  return name.startsWith(LINK_PREFIX);
}

/** The maps that outlive a generation, and the process if they are pinned. A map's pin has the map's name. */
export const STATE_MAPS = [
  'peers',
  'affinity4',
  'affinity6',
  'active4',
  'active6',
] as const satisfies readonly MapName[];
export type StateMapName = (typeof STATE_MAPS)[number];
