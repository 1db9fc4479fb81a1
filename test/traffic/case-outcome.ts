import { type Outcome, outcomeOf } from '../../src/explain/index.ts';
import { familyOf } from '../../src/net/index.ts';
import { MASQUERADE_BIT, modeSettings, type ProxyState } from '../../src/proxy/index.ts';
import type { Question } from './matrix.ts';
import { NODE_IPS, type RecordedSource } from './recorded-network.ts';
import type { CaseSettings } from './settings.ts';
import { caseMode } from './start-proxy.ts';

/** What a connection gets on the node of the recorded network. */
export function caseOutcome(
  { source, ip, port, protocol }: Question<RecordedSource>,
  state: ProxyState,
  settings: CaseSettings,
): Outcome {
  const family = familyOf(ip);
  return outcomeOf({
    caller: source.caller,
    destination: { ip, port, protocol },
    frontends: state.family(family).planner,
    mode: caseMode(settings),
    settings: modeSettings(state, family, {
      nodePortAddresses: settings.nodePortAddresses,
      masqueradeBit: MASQUERADE_BIT,
      interfaceIPs: () => NODE_IPS,
    }),
    nodeIPs: NODE_IPS,
  });
}
