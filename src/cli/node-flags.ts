import { MODES, type ModeDescriptor, modeNamed } from '../modes/index.ts';
import { oneOf } from './command.ts';
import { FlagError, string } from './flags/index.ts';

/** For commands that can only read manifests. */
export const MANIFESTS_FLAG = {
  manifests: { type: string, default: '', word: 'DIR', usage: 'folder or file with manifests (required)' },
};

export function manifestsFlag({ manifests }: { readonly manifests: string }): string {
  if (!manifests) throw new FlagError('required flag "manifests" not set: it names a folder or file with manifests');
  return manifests;
}

/** Throws a FlagError that names all modes. */
export function modeFlag(values: { readonly 'proxy-mode': string }): ModeDescriptor {
  const names = MODES.map(({ name }) => name);
  const mode = modeNamed(oneOf(names, values['proxy-mode'], '"--proxy-mode" flag'));
  if (!mode) throw new RangeError('the registry has no mode of this name');
  return mode;
}
