import { defaultConfiguration } from '../../config/index.ts';
import { OwnControlGroup } from '../../kernel/bpf/index.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { FatalError } from '../../lib/fatal-error.ts';
import { type ConfiguredMode, configuredMode, MODES, type ModeDescriptor, type ModeFlags } from '../../modes/index.ts';
import type { Family } from '../../net/index.ts';
import { Logging } from '../../observe/logging/index.ts';

/** A mode that this machine can run, and the families that it serves here. */
export interface UsableMode {
  readonly mode: ConfiguredMode;
  readonly families: readonly Family[];
}

/** Throws an Error with the reason, and with the modes that work, if this machine cannot run the mode. */
export async function usableMode(descriptor: ModeDescriptor, flags: ModeFlags): Promise<UsableMode> {
  const checked = await check(descriptor, flags);
  if ('mode' in checked) return checked;
  const others: string[] = [];
  for (const other of MODES.filter(mode => mode !== descriptor)) {
    if ('mode' in (await check(other, flags))) others.push(other.name);
  }
  const advice = others.length > 0 ? `This machine can run: ${others.join(', ')}` : 'This machine can run no mode.';
  throw new Error(`this machine cannot run ${descriptor.name} mode: ${checked.reason}\n${advice}`);
}

async function check(descriptor: ModeDescriptor, flags: ModeFlags): Promise<UsableMode | { readonly reason: string }> {
  // What a mode serves at sockets, it must not serve for other processes.
  const group = descriptor.network && OwnControlGroup.enter();
  if (group && 'missing' in group) return { reason: group.missing };
  try {
    return await checkIn(descriptor, { ...flags, cgroupRoot: group?.path });
  } finally {
    group?.leave();
  }
}

async function checkIn(
  descriptor: ModeDescriptor,
  flags: ModeFlags,
): Promise<UsableMode | { readonly reason: string }> {
  const mode = configuredMode({ ...defaultConfiguration(), mode: descriptor.name }, flags);
  const silent = { write: () => true };
  // The check of a mode may write to the kernel, which must not show in the network of the machine.
  const namespace = NetworkNamespace.create();
  try {
    const families = await descriptor.supportedFamilies(new Logging({ stdout: silent, stderr: silent }).log);
    const reason = await mode.unavailable({ namespace });
    return reason === undefined ? { mode, families } : { reason };
  } catch (error) {
    if (error instanceof FatalError) return { reason: error.message };
    throw error;
  } finally {
    namespace.close();
  }
}
