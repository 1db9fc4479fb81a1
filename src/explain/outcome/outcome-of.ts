import { isLoopback, joinHostPort } from '../../net/index.ts';
import { localhostNodePort, type PlannedFrontend, planName } from '../../plan/index.ts';
import type { Outcome } from '../outcome.ts';
import { atSocket } from './at-socket.ts';
import { elsewhere, frontendOutcome } from './frontend-outcome.ts';
import { matchFrontend } from './match-frontend.ts';
import { nodePortServer, refusalText } from './node-ports.ts';
import { isNodeIP, type OutcomeInput } from './question.ts';
import { unmatchedOutcome } from './unmatched.ts';

/** What a new connection gets. It depends on the input only: no kernel is read, and nothing is sent. */
export function outcomeOf(input: OutcomeInput): Outcome {
  const socket = atSocket(input);
  return socket?.kind === 'decided' ? socket.outcome : packetOutcome(input);
}

/** What packets get, if the socket of the caller did not replace their destination. */
function packetOutcome(input: OutcomeInput): Outcome {
  const { caller, destination, frontends } = input;
  const { ip } = destination;
  if (isLoopback(ip) && caller.place !== 'node') {
    const reason = `${ip} is the caller's own machine, so the packet never reaches the node`;
    return { kind: 'elsewhere', at: 'caller', code: 'loopback-of-caller', reason };
  }
  const target = matchFrontend(frontends, destination, input);
  if (!target) return unmatchedOutcome(input);
  if (target.frontend.kind !== 'NodePort') return rulesOutcome(target, input);
  switch (nodePortServer(input, ip)) {
    case 'rules':
      return rulesOutcome(target, input);
    case 'listener':
      return listenerOutcome(target, input);
    case undefined:
      return notAccepted(target, input);
  }
}

function rulesOutcome(target: PlannedFrontend, input: OutcomeInput): Outcome {
  const server = serverOf(target, input);
  const outcome = frontendOutcome(server, input, input);
  if (server === target || outcome.kind !== 'answered') return outcome;
  const text = `${planName(target.plan)} owns the address but no endpoint of it can serve, so ${planName(server.plan)} serves`;
  return { ...outcome, remarks: [{ code: 'shared-frontend', text }, ...outcome.remarks] };
}

/** In some modes, another Service that wants a frontend serves it while its owner has no endpoints. */
function serverOf(target: PlannedFrontend, { mode, frontends, destination }: OutcomeInput): PlannedFrontend {
  if (target.frontend.action !== 'reject' || !mode.behaviour.sharesFrontends) return target;
  const { ip, port } = target.frontend;
  const others = frontends.lostFrontendsAt(ip, port, destination.protocol);
  return others.find(({ frontend }) => frontend.action !== 'reject') ?? target;
}

/** The process of the mode listens at loopback and relays. */
function listenerOutcome({ plan, frontend }: PlannedFrontend, input: OutcomeInput): Outcome {
  const served = localhostNodePort(plan, input.settings.nodePortAddresses.containsExplicitLoopback);
  const { ip, port } = input.destination;
  if (served?.kind === 'reject') {
    const reason = `nodePortAddresses does not list loopback, so node port ${port} is rejected at ${ip}`;
    return { kind: 'refused', code: 'node-port-address', reason };
  }
  if (!served) {
    const reason = `no endpoint of ${planName(plan)} can serve, so nothing listens at ${joinHostPort(ip, port)}`;
    return { kind: 'refused', code: 'no-endpoints', reason };
  }
  const behaviour = {
    ...input.mode.behaviour,
    isRelay: true,
    choice: { kind: 'balancer' },
    hasShortCircuit: false,
  } as const;
  return frontendOutcome({ plan, frontend }, input, { ...input, mode: { behaviour } });
}

function notAccepted({ plan, frontend }: PlannedFrontend, input: OutcomeInput): Outcome {
  const { ip, port } = input.destination;
  const { behaviour } = input.mode;
  const why = `node port ${port} of ${planName(plan)} does not accept connections at ${ip}: ${refusalText(input, ip)}`;
  if (behaviour.loopbackNodePorts === 'listeners' && isLoopback(ip)) {
    return { kind: 'refused', code: 'node-port-address', reason: why };
  }
  if (behaviour.refusesNodePortsAtAllAddresses && isNodeIP(input, ip) && frontend.action !== 'forward') {
    // The rules that refuse look at every address of the node.
    const noShortCircuit = { ...behaviour, hasShortCircuit: false };
    return frontendOutcome({ plan, frontend }, input, { ...input, mode: { behaviour: noShortCircuit } });
  }
  return elsewhere(input, input, 'node-port-address', why);
}
