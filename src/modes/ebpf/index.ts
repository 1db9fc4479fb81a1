import type { ModeContext, ModeDescriptor, ModeMachine } from '../descriptor.ts';
import { LayeredMode } from '../layered-mode.ts';
import { cleanupEbpf, hasEbpfLeftovers } from './cleanup.ts';
import { socketBehaviour } from './explained/socket-behaviour.ts';
import { EbpfMode, type EbpfOptions } from './mode.ts';
import { previewEbpf } from './preview.ts';
import { socketSupport } from './support.ts';

/** The options of the sockets, and those of the mode underneath. */
export interface LayeredOptions<Network> {
  readonly sockets: EbpfOptions;
  readonly network: Network;
}

/** ebpf mode: sockets in front of a mode that programs the network and serves everything that sockets leave alone. */
export function ebpfAround<Network>(network: ModeDescriptor<Network>): ModeDescriptor<LayeredOptions<Network>> {
  return {
    ...network,
    name: 'ebpf',
    network: network as ModeDescriptor,
    optionsFrom: (configuration, flags) => ({
      sockets: {
        sockets: flags.ebpfSockets ?? 'all',
        cgroupRoot: flags.cgroupRoot,
        countConnections: flags.countConnections,
      },
      network: network.optionsFrom(configuration, flags),
    }),
    prepare: async (options, context) => network.prepare?.(options.network, context),
    unavailable: async (options, machine) =>
      (await network.unavailable?.(options.network, machine)) ?? missingSupport(options.sockets, machine),
    create: (options, context) => layered(network, options, context),
    preview: async (options, input) => {
      const sockets = await previewEbpf(options.sockets, input);
      const below = await network.preview(options.network, input);
      return [sockets, below].filter(text => text !== '').join('\n');
    },
    cleanup: cleanupEbpf,
    // A proxy in another network namespace, such as that of a demo, must not take the machine's programs away.
    hasLeftovers: namespace => namespace === undefined && hasEbpfLeftovers(),
    markerChain: undefined,
    ownRules: network.ownRules,
    behaviour: ({ sockets: { sockets }, network: options }) => ({
      ...network.behaviour(options),
      atSockets: socketBehaviour(sockets),
    }),
  };
}

/** Why sockets cannot be served. The proxy itself also works without them. */
function missingSupport({ cgroupRoot }: EbpfOptions, { namespace }: ModeMachine): string | undefined {
  const support = socketSupport({ cgroupRoot, namespace });
  return 'missing' in support ? support.missing : undefined;
}

function layered<Network>(
  network: ModeDescriptor<Network>,
  options: LayeredOptions<Network>,
  context: ModeContext,
): LayeredMode {
  const sockets = new EbpfMode({ ...options.sockets, ...context.socketScope, ...context });
  return new LayeredMode({ sockets, network: network.create(options.network, context) }, context.events);
}

export { EbpfMode, type EbpfModeOptions, type EbpfOptions } from './mode.ts';
