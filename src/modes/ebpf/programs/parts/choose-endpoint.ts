import {
  alu,
  alu32,
  at,
  call,
  clear,
  go,
  item,
  label,
  load,
  lookup,
  note,
  type Part,
  type Register,
  r0,
  r1,
  r2,
  r8,
  r9,
  set,
  store,
  when,
} from '../../../../kernel/bpf/index.ts';
import { TargetFlag } from '../layout.ts';
import type { ProgramOptions } from '../program-options.ts';
import { preferFewerConnections, type SlotFinder } from './least-connections.ts';
import { rememberClient, takeRemembered } from './remembered-endpoint.ts';
import { copyAddress, type SocketFamily, wordsOf } from './socket-family.ts';
import type { ConnectStack } from './stack.ts';

/** `endpoint` becomes the one that the client had, or any endpoint of the run. */
export function chooseEndpoint(family: SocketFamily, stack: ConnectStack, options: ProgramOptions): Part {
  if (!options.hasAffinity) return anyEndpoint(family, stack, options);
  const { choice, affinityKey } = stack;
  const [affinity, any, chosen] = ['affinity', 'any', 'chosen'].map(text => `${text}-${family.name}`) as Labels;
  return [
    note('does the target have session affinity?'),
    // The verifier does not see that the program only reads these where it wrote them.
    [clear(affinityKey), store(choice.at.now, 0)],
    [load(r1, choice.at.flags), when(r1, '&', TargetFlag.affinity, affinity), go(any)],
    label(affinity),
    [takeRemembered(family, stack, any), go(chosen)],
    label(any),
    anyEndpoint(family, stack, options),
    note('without session affinity the choice is done'),
    [load(r1, choice.at.flags), alu(r1, '&', TargetFlag.affinity), when(r1, '==', 0, chosen)],
    rememberClient(family, stack),
    label(chosen),
  ];
}

type Labels = [affinity: string, any: string, chosen: string];

function anyEndpoint(family: SocketFamily, stack: ConnectStack, options: ProgramOptions): Part {
  const { endpoint } = stack;
  return [
    note(`endpoint = slots${family.digit}[run.first + random % run.count]`),
    [randomSlot(family, stack), set(r9, r0)],
    options.hasLeastConnections ? preferFewerConnections(family, stack, slotFinder(family, stack)) : [],
    note('its address and port'),
    clear(endpoint),
    copyAddress(family, word => at(r9, item(family.Slot.address, word)), wordsOf(endpoint)),
    [load(r2, at(r9, family.Slot.port)), store(endpoint.at.port, r2)],
  ];
}

function slotFinder(family: SocketFamily, stack: ConnectStack): SlotFinder {
  return { random: randomSlot(family, stack), nth: position => nthSlot(family, stack, position) };
}

/** r0 becomes the address of a slot of the run. */
function randomSlot(family: SocketFamily, stack: ConnectStack): Part {
  return [
    call('get_prandom_u32'),
    [load(r8, stack.choice.at.run), set(r1, r8), alu(r1, '>>', 32)],
    [alu32(r0, '%', r1), alu32(r0, '+', r8), slotAt(family, stack, r0)],
  ];
}

/** r0 becomes the address of the slot at a position of the run. The run is longer than that. */
function nthSlot(family: SocketFamily, stack: ConnectStack, position: number): Part {
  return [load(r1, stack.choice.at.run), alu32(r1, '+', position), slotAt(family, stack, r1)];
}

/** r0 becomes the address of the slot with this number. */
function slotAt(family: SocketFamily, { index }: ConnectStack, number: Register): Part {
  return [store(index.at.value, number), lookup(`slots${family.digit}`, index), when(r0, '==', 0, 'leave')];
}
