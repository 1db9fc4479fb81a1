import { apiPaused } from './api-paused.ts';
import { apiRestored } from './api-restored.ts';
import { apiSlow } from './api-slow.ts';
import { apiStopped } from './api-stopped.ts';
import { certificate } from './certificate.ts';
import { clockJump } from './clock-jump.ts';
import { cutConnections } from './cut-connections.ts';
import type { Fault } from './fault.ts';
import { foreignChanges } from './foreign-changes.ts';
import { forgottenVersions } from './forgotten-versions.ts';
import { kill } from './kill.ts';
import { limits } from './limits.ts';
import { lostNotifications } from './lost-notifications.ts';
import { modeSwitch } from './mode-switch.ts';
import { nodeAddresses } from './node-addresses.ts';
import { reload } from './reload.ts';
import { restart } from './restart.ts';
import { secondProxy } from './second-proxy.ts';
import { silentConnections } from './silent-connections.ts';
import { slowNetwork } from './slow-network.ts';
import { token } from './token.ts';
import { tooManyRequests } from './too-many-requests.ts';

/** All faults. Their order is part of what a seed means. */
export const FAULTS: readonly Fault[] = [
  kill,
  restart,
  modeSwitch,
  reload,
  secondProxy,
  lostNotifications,
  limits,
  clockJump,
  apiStopped,
  apiPaused,
  apiSlow,
  apiRestored,
  forgottenVersions,
  tooManyRequests,
  token,
  certificate,
  slowNetwork,
  cutConnections,
  silentConnections,
  foreignChanges,
  nodeAddresses,
];
