import type { NetworkNamespace } from '../../../src/kernel/netns.ts';
import { Program } from '../../control-plane/program.ts';
import type { Attempt } from '../invariants/connections.ts';
import type { ControlGroup } from './control-group.ts';

const RATE = 40;

/** Where clients run. */
export interface ClientPlace {
  readonly name: string;
  readonly namespace: NetworkNamespace;
  readonly group?: ControlGroup | undefined;
}

/** Clients that connect to Services all the time, and clients that keep connections. */
export class Clients {
  readonly #pollers: readonly Program[];
  readonly #holders: readonly Program[];
  attempts = 0;

  constructor(places: readonly ClientPlace[], polled: readonly string[], held: readonly string[]) {
    this.#pollers = places.map(place => startClient(place, ['poll', String(RATE), ...polled]));
    this.#holders = places.map(place => startClient(place, ['hold', ...held]));
  }

  /** The attempts that have ended since the last call. */
  takeAttempts(): readonly Attempt[] {
    const attempts = this.#pollers.flatMap(program =>
      program.lines.splice(0).flatMap(line => parseAttempt(program.name, line) ?? []),
    );
    this.attempts += attempts.length;
    return attempts;
  }

  /** The lines about kept connections since the last call. */
  takeHeldLines(): readonly { readonly client: string; readonly line: string }[] {
    return this.#holders.flatMap(({ name, lines }) => lines.splice(0).map(line => ({ client: name, line })));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pollers, ...this.#holders].map(program => program.stop('SIGKILL')));
  }
}

function startClient({ name, namespace, group }: ClientPlace, args: readonly string[]): Program {
  const program = new Program(name, [process.execPath, 'test/chaos/world/client.mjs', ...args], { namespace });
  if (program.pid !== undefined) group?.take(program.pid);
  return program;
}

/** Parses a line of client.mjs. */
export function parseAttempt(client: string, line: string): Attempt | undefined {
  const [, begin, end, address = '', result = ''] = /^(\d+) (\d+) (\S+) (.*)$/.exec(line) ?? [];
  if (address === '') return undefined;
  const failed = result.startsWith('!');
  return {
    client,
    address,
    begin: Number(begin),
    end: Number(end),
    answer: failed ? undefined : result,
    failure: failed ? result.slice(1) : '',
  };
}
