import type { Configuration } from '../config/index.ts';
import type { Family } from '../net/index.ts';
import type { Cleanup } from './cleanup-report.ts';
import {
  type ConfiguredMode,
  type ModeContext,
  type ModeDescriptor,
  type ModeFlags,
  withOptions,
} from './descriptor.ts';
import { ebpfAround } from './ebpf/index.ts';
import { iptables } from './iptables/index.ts';
import { ipvs } from './ipvs/index.ts';
import type { Mode } from './mode.ts';
import { nftables } from './nftables/index.ts';
import { type Removal, TakeOver } from './take-over.ts';
import { userspace } from './userspace/index.ts';

/**
 * All modes, in the order of a cleanup: ipvs before iptables, because chains of ipvs mode jump to chains that iptables
 * mode has too.
 */
export const MODES: readonly ModeDescriptor[] = [nftables, ebpfAround(nftables), ipvs, iptables, userspace];

/** The mode of a proxy whose configuration names none. */
export const DEFAULT_MODE: ConfiguredMode = withOptions(nftables, {});

export function modeNamed(name: string): ModeDescriptor | undefined {
  return MODES.find(mode => mode.name === name);
}

/** The mode that the configuration asks for. */
export function configuredMode(configuration: Configuration, flags: ModeFlags): ConfiguredMode {
  const descriptor = modeNamed(configuration.mode);
  if (!descriptor) throw new RangeError(`unknown proxy mode ${JSON.stringify(configuration.mode)}`);
  return withOptions(descriptor, descriptor.optionsFrom(configuration, flags));
}

/** Creates a mode that also removes what other modes left, once its own rules are complete. */
export function createMode(configured: ConfiguredMode, families: readonly Family[], context: ModeContext): Mode {
  const own = configured.descriptor;
  const mode = configured.create({ ...context, families });
  const others = MODES.filter(other => other !== own && other !== own.network);
  const removals = others.map(other => removal(other, own, mode, context));
  return new TakeOver(mode, families, removals, context);
}

function removal(other: ModeDescriptor, own: ModeDescriptor, mode: Mode, machine: ModeContext): Removal {
  const { namespace, programs, formerCgroupRoot: cgroupRoot } = machine;
  return async signal => {
    if (other.hasLeftovers?.(namespace) === false) return;
    if (other.markerChain !== undefined && mode.hadChain?.(other.markerChain) === false) return;
    // If this mode closes meanwhile, the next one removes it.
    if ((await other.lastConnectionsEnded?.(namespace, signal)) === false) return;
    throwFirst(await other.cleanup({ namespace, programs, keep: own.ownRules, cgroupRoot }));
  };
}

function throwFirst({ errors }: Cleanup): void {
  if (errors.length > 0) throw errors[0];
}
