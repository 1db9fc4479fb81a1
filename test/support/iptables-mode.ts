import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { IptablesMode, type IptablesModeOptions } from '../../src/modes/iptables/mode.ts';
import type { ProgramOptions } from '../../src/modes/iptables-programs.ts';
import type { ModeEvents, ModeSettings } from '../../src/modes/mode.ts';
import type { Family } from '../../src/net/index.ts';
import { ModeHarness } from './mode-harness.ts';

export interface IptablesHarnessOptions
  extends Pick<IptablesModeOptions, 'clock' | 'localhostNodePorts'>,
    Omit<ProgramOptions, 'namespace'> {
  readonly family?: Family;
  readonly settings?: Partial<ModeSettings>;
}

/** One family of iptables mode in a namespace. */
export class IptablesHarness extends ModeHarness<IptablesMode> {
  readonly namespace: NetworkNamespace;

  constructor(namespace: NetworkNamespace, options: IptablesHarnessOptions = {}) {
    const { family = 'IPv4', settings = {}, clock, localhostNodePorts, ...programs } = options;
    const create = (events: ModeEvents) => new IptablesMode({ namespace, events, clock, localhostNodePorts, programs });
    super(create, { families: [family], settings });
    this.namespace = namespace;
  }
}
