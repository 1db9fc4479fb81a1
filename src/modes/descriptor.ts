import type { Configuration } from '../config/index.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import type { Algorithm, NodeIPs } from '../model/index.ts';
import type { Family } from '../net/index.ts';
import type { Logger } from '../observe/logging/index.ts';
import type { ServicePortPlan } from '../plan/index.ts';
import type { ModeBehaviour } from './behaviour.ts';
import type { Cleanup } from './cleanup-report.ts';
import type { ProgramOptions } from './iptables-programs.ts';
import type { Mode, ModeSettings } from './mode.ts';
import type { ShellOptions } from './shell.ts';

/** Where a mode works. */
export interface ModeMachine {
  /** The network namespace. The default is the namespace of the process. */
  readonly namespace?: NetworkNamespace | undefined;
  /** How the mode runs firewall programs. */
  readonly programs?: Omit<ProgramOptions, 'namespace'> | undefined;
  /** For a mode that translates at sockets. */
  readonly socketScope?: SocketScope | undefined;
  /** The control group that ebpf mode served before, if another mode takes over. The default is the one of the node. */
  readonly formerCgroupRoot?: string | undefined;
}

/** Sockets that a mode may serve, instead of those that its options name. */
export interface SocketScope {
  /** The control group that the sockets belong to. */
  readonly cgroupRoot: string;
  /** Where the mode pins programs. If this is no bpffs, they end with the process. */
  readonly bpffs: string;
  /** The cookies of the network namespaces of the sockets. The mode reads them when it loads programs. */
  readonly listedNamespaces: Iterable<bigint>;
}

export interface ModeContext extends ModeMachine, ShellOptions {
  /** The families that the proxy serves. The default is both. */
  readonly families?: readonly Family[] | undefined;
}

/** Which sockets ebpf mode translates: all of the machine, or only those of the node's own network namespace. */
export const EBPF_SOCKETS = ['all', 'node'] as const;

/** The flags that only Pointsman has and that change what a mode writes. */
export interface ModeFlags {
  /** The algorithm of Services that choose none. The default is what the mode does without a choice. */
  readonly defaultBalance?: Algorithm | undefined;
  /** Let the kernel count connections for each service port. */
  readonly countConnections: boolean;
  /** Masqueraded TCP connections of node processes keep their source port if it is free. The default is false. */
  readonly keepNodeSourcePorts?: boolean | undefined;
  /** The default is `all`. */
  readonly ebpfSockets?: (typeof EBPF_SOCKETS)[number] | undefined;
  /** The control group whose processes ebpf mode serves. The default is the root of the machine. */
  readonly cgroupRoot?: string | undefined;
}

/** Rules that a mode uses although another mode writes them too. */
export interface OwnRules {
  chain(table: string, chain: string): boolean;
  /** `from` is the chain that jumps, and `rule` is the text after its name. */
  jump(table: string, from: string, rule: string): boolean;
}

export interface CleanupOptions extends ModeMachine {
  /** The rules that the cleanup must not remove, because the mode that runs now uses them. */
  readonly keep?: OwnRules | undefined;
  /** The control group that ebpf mode served. The default is the one that it would serve now. */
  readonly cgroupRoot?: string | undefined;
}

/** What a mode needs to know for its work before the proxy starts. */
export interface StartContext {
  readonly configuration: Configuration;
  readonly nodeIPs: NodeIPs;
  readonly families: readonly Family[];
  readonly log: Logger;
}

export interface PreviewInput extends ModeMachine {
  readonly family: Family;
  readonly plans: readonly ServicePortPlan[];
  readonly settings: ModeSettings;
  /** `nothing`: what a first start would write. `kernel`: what would bring this machine's kernel to the plans. */
  readonly against: 'nothing' | 'kernel';
}

/** An Event of the Node that the proxy creates when it starts, because the mode wants it. */
export interface StartEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

/** Everything that the rest of the project needs to know of a mode. */
export interface ModeDescriptor<Options = unknown> {
  /** The name in the configuration. */
  readonly name: string;
  /** The options of the mode that the configuration asks for. */
  optionsFrom(configuration: Configuration, flags: ModeFlags): Options;
  /** The families that the mode can serve on this machine. Throws a `FatalError` if there is none. */
  supportedFamilies(log: Logger): Promise<readonly Family[]>;
  /** Does what needs privileges before the proxy starts. Throws a `FatalError` if the machine cannot run the mode. */
  prepare?(options: Options, context: StartContext): Promise<void>;
  /** Why the machine cannot run the mode, if `supportedFamilies` does not find out. Changes no setting. */
  unavailable?(options: Options, machine: ModeMachine): Promise<string | undefined>;
  create(options: Options, context: ModeContext): Mode;
  /** What the mode would write, as text; empty if it would write nothing. */
  preview(options: Options, input: PreviewInput): Promise<string>;
  /** Removes everything that the mode wrote, in both families, and nothing else. */
  cleanup(options?: CleanupOptions): Promise<Cleanup>;
  /** Checks quickly whether there may be something to clean up. Without this function, the proxy assumes so. */
  hasLeftovers?(namespace?: NetworkNamespace): boolean;
  /**
   * Waits until the connections have ended that a cleanup would break, but not for ever. Returns false if the signal ended
   * the wait too early.
   */
  lastConnectionsEnded?(namespace: NetworkNamespace | undefined, signal: AbortSignal): Promise<boolean>;
  /** An iptables chain that only this mode makes. */
  readonly markerChain?: string | undefined;
  readonly ownRules?: OwnRules | undefined;
  /** The mode that programs the network underneath this one. This mode needs what that one writes. */
  readonly network?: ModeDescriptor | undefined;
  /** The default of `nodePortAddresses`. Without it, all addresses of the node accept node ports. */
  readonly nodePortAddresses?: readonly string[] | undefined;
  /** A link whose addresses the mode manages. They are not addresses of the node. */
  readonly link?: string | undefined;
  /** The mode removes stale flows itself; otherwise the proxy does it. */
  readonly removesStaleFlows?: boolean | undefined;
  /** The metrics of the mode distinguish full syncs from partial ones, as upstream's do. */
  readonly hasPartialSyncMetrics?: boolean | undefined;
  readonly startEvent?: StartEvent | undefined;
  /** How this mode can spread connections. A Service that asks for another way gets what the mode always does. */
  readonly algorithms: readonly Algorithm[];
  /** For least connections the mode takes turns over slots, and the proxy changes the slots by the open connections. */
  readonly needsConnectionFeedback?: boolean | undefined;
  /** What happens to connections in this mode, where modes differ. */
  behaviour(options: Options): ModeBehaviour;
}

/** A mode with its options. */
export interface ConfiguredMode {
  readonly descriptor: ModeDescriptor;
  readonly behaviour: ModeBehaviour;
  prepare(context: StartContext): Promise<void>;
  /** Why the machine cannot run the mode, if `supportedFamilies` does not find out. */
  unavailable(machine: ModeMachine): Promise<string | undefined>;
  create(context: ModeContext): Mode;
  preview(input: PreviewInput): Promise<string>;
}

export function withOptions<Options>(descriptor: ModeDescriptor<Options>, options: Options): ConfiguredMode {
  return {
    descriptor,
    behaviour: descriptor.behaviour(options),
    prepare: async context => descriptor.prepare?.(options, context),
    unavailable: async machine => descriptor.unavailable?.(options, machine),
    create: context => descriptor.create(options, context),
    preview: input => descriptor.preview(options, input),
  };
}
