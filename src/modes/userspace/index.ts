import { type Configuration, parsePortRange } from '../../config/index.ts';
import { toMilliseconds } from '../../lib/duration.ts';
import { ALGORITHMS } from '../../model/index.ts';
import { parseIp } from '../../net/index.ts';
import { type ModeBehaviour, PLAN_BEHAVIOUR } from '../behaviour.ts';
import type { ModeDescriptor } from '../descriptor.ts';
import { iptablesFamilies } from '../iptables-programs.ts';
import { cleanupUserspace } from './cleanup.ts';
import { UserspaceMode, type UserspaceOptions } from './mode.ts';
import { MARKER_CHAIN } from './names.ts';
import { previewUserspace } from './preview.ts';

const BEHAVIOUR: ModeBehaviour = {
  ...PLAN_BEHAVIOUR,
  choice: { kind: 'balancer' },
  isRelay: true,
  loopbackNodePorts: 'all',
  lacksProtocols: ['SCTP'],
};

export const userspace: ModeDescriptor<UserspaceOptions> = {
  name: 'userspace',
  optionsFrom,
  supportedFamilies: log => iptablesFamilies(log),
  create: (options, context) => new UserspaceMode({ ...options, ...context }),
  preview: previewUserspace,
  cleanup: cleanupUserspace,
  markerChain: MARKER_CHAIN,
  removesStaleFlows: true,
  algorithms: ALGORITHMS,
  behaviour: () => BEHAVIOUR,
};

function optionsFrom({ bindAddress, userspace: { portRange, udpIdleTimeout } }: Configuration): UserspaceOptions {
  const range = parsePortRange(portRange);
  return {
    listenIP: parseIp(bindAddress),
    portRange: range === 'any' ? undefined : range,
    udpIdleTimeoutMs: udpIdleTimeout === undefined ? undefined : toMilliseconds(udpIdleTimeout),
  };
}

export { UserspaceMode, type UserspaceModeOptions, type UserspaceOptions } from './mode.ts';
