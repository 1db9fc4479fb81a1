import type { ChainStep, Ends, TracedPacket, TraceOutcome } from '../../../../trace/index.ts';

/** The way of a traced packet, as stations in the order in which it met them. */
export interface PacketWay {
  readonly start: string;
  readonly hooks: readonly HookStation[];
  readonly end: PacketEnd;
}

/** A hook of the kernel, with what happened there. */
export interface HookStation {
  /** `prerouting` */
  readonly hook: string;
  /** The packet when it came to the hook. */
  readonly ends: Ends;
  /** The addresses that another station before has changed. */
  readonly isSourceNew: boolean;
  readonly isDestinationNew: boolean;
  readonly events: readonly HookEvent[];
}

export type HookEvent = ChainStep | AddressChange;

/** The kernel replaced an address or a port. */
export interface AddressChange {
  readonly kind: 'change';
  readonly what: 'source' | 'destination';
  readonly from: string;
  readonly to: string;
}

export interface PacketEnd {
  readonly verdict: 'good' | 'bad' | 'unknown';
  readonly text: string;
  /** The packet where its way ended. */
  readonly ends: Ends;
}

export function packetWay(
  packet: Pick<TracedPacket, 'first' | 'last' | 'steps' | 'inInterface' | 'outcome'>,
): PacketWay {
  const { inInterface, outcome, last } = packet;
  return {
    start: inInterface === undefined ? 'sent by this node' : `came in through ${inInterface}`,
    hooks: hooksOf(packet),
    end: { ...endOf(outcome), ends: last },
  };
}

function hooksOf({ first, steps }: Pick<TracedPacket, 'first' | 'steps'>): readonly HookStation[] {
  const stations: (Omit<HookStation, 'events'> & { readonly events: HookEvent[] })[] = [];
  let ends = first;
  const enter = (hook: string) => {
    const before = stations.at(-1)?.ends ?? first;
    const station = {
      hook,
      ends,
      isSourceNew: ends.source !== before.source,
      isDestinationNew: ends.destination !== before.destination,
      events: [],
    };
    stations.push(station);
    return station;
  };
  for (const step of steps) {
    if (step.kind === 'rewrite') {
      const station = stations.at(-1) ?? enter('unknown hook');
      station.events.push(...changes(step.from, step.to));
      ends = step.to;
    } else {
      const hook = step.hook ?? 'unknown hook';
      const current = stations.at(-1);
      const station = current?.hook === hook ? current : enter(hook);
      station.events.push(step);
    }
  }
  return stations;
}

function changes(from: Ends, to: Ends): readonly AddressChange[] {
  return (['destination', 'source'] as const).flatMap(what =>
    from[what] === to[what] ? [] : [{ kind: 'change' as const, what, from: from[what], to: to[what] }],
  );
}

function endOf(outcome: TraceOutcome): Pick<PacketEnd, 'verdict' | 'text'> {
  switch (outcome.kind) {
    case 'left':
      return { verdict: 'good', text: `left through ${outcome.interface}` };
    case 'delivered':
      return { verdict: 'good', text: 'given to this machine itself' };
    case 'dropped':
    case 'rejected':
      return { verdict: 'bad', text: `${outcome.kind} by table ${outcome.table}, chain ${outcome.rule.chain}` };
    case 'lost':
      return {
        verdict: 'unknown',
        text: `lost after ${outcome.after ?? 'an unknown hook'}: no rule of nf_tables dropped it`,
      };
  }
}
