import { setImmediate as nextTurn } from 'node:timers/promises';
import { KernelError } from '../../../kernel/errors.ts';
import { type Command, type Element, type IpsetSocket, printElement } from '../../../kernel/ipset/index.ts';
import type { Family } from '../../../net/index.ts';
import { ipSet, SET_KEYS, SETS, type SetKey, setName } from '../names.ts';
import type { Touched, Wanted } from '../wanted/wanted-objects.ts';
import { type Measured, type Refused, timed, type Written } from './write-report.ts';

type Elements = Touched['elements'];

/** The sets of one family: what the kernel has in them, as far as we know. */
export class SetTable {
  readonly #socket: IpsetSocket;
  readonly #family: Family;
  readonly #measured: Measured;
  readonly #known = new Map<SetKey, Map<string, Element>>();
  /** How many rules use each, after we wrote them. */
  #references = new Map<string, number>();

  constructor(socket: IpsetSocket, family: Family, measured: Measured) {
    this.#socket = socket;
    this.#family = family;
    this.#measured = measured;
  }

  has(set: SetKey, element: Element): boolean {
    return this.#known.get(set)?.has(printElement(element)) ?? false;
  }

  texts(set: SetKey): Iterable<string> {
    return this.#known.get(set)?.keys() ?? [];
  }

  /** Reads all of them, after making those that are missing. */
  async read(written: Written): Promise<void> {
    const types = new Map([...this.#socket.headers()].map(({ name, type }) => [name, type]));
    const missing = SET_KEYS.map(key => ipSet(key, this.#family)).filter(({ name }) => !types.has(name));
    for (const key of SET_KEYS) this.#checkType(key, types.get(setName(key, this.#family)));
    const creates = missing.map((set): Command => ({ kind: 'create', set }));
    const [refused] = await this.#run(creates, creates.length);
    if (refused) throw refused.error;
    written.add('created set', creates.length);
    for (const key of SET_KEYS) {
      const entries = this.#socket.entries(setName(key, this.#family));
      this.#known.set(key, new Map([...entries].map(entry => [printElement(entry), entry])));
      this.#measured(1, 0);
      await nextTurn();
    }
  }

  async add(elements: Elements, wanted: Wanted, written: Written): Promise<readonly Refused[]> {
    const missing = (set: SetKey, text: string) =>
      this.#known.get(set)?.has(text) ? undefined : wanted.element(set, text);
    return this.#change('add', elements, missing, written);
  }

  async remove(elements: Elements, wanted: Wanted, written: Written): Promise<readonly Refused[]> {
    const superfluous = (set: SetKey, text: string) =>
      wanted.element(set, text) ? undefined : this.#known.get(set)?.get(text);
    return this.#change('del', elements, superfluous, written);
  }

  /** Rules were just written: remembers how they use the sets. */
  noteReferences(): void {
    const names = new Set(SET_KEYS.map(key => setName(key, this.#family)));
    const headers = [...this.#socket.headers()].filter(({ name }) => names.has(name));
    this.#references = new Map(headers.map(({ name, references }) => [name, references]));
  }

  /** What somebody else did, as far as a look at the headers tells: sets emptied, deleted, or no longer used. */
  drift(): string | undefined {
    const headers = new Map([...this.#socket.headers()].map(header => [header.name, header]));
    for (const key of SET_KEYS) {
      const name = setName(key, this.#family);
      const header = headers.get(name);
      const size = this.#known.get(key)?.size ?? 0;
      if (!header) return `set ${name} is gone`;
      if (header.elements !== size) return `set ${name} has ${header.elements} elements instead of ${size}`;
      if (header.references !== this.#references.get(name)) return `rules that use ${name} changed`;
    }
    return undefined;
  }

  #checkType(key: SetKey, type: string | undefined): void {
    if (type === undefined || type === SETS[key].type) return;
    throw new KernelError('KERNEL_REFUSED', {
      operation: `create ${setName(key, this.#family)} ${SETS[key].type}`,
      reason: `there is a set of this name of type ${type}; destroy it`,
    });
  }

  async #change(
    kind: 'add' | 'del',
    elements: Elements,
    select: (set: SetKey, text: string) => Element | undefined,
    written: Written,
  ): Promise<readonly Refused[]> {
    const chosen = [...elements].map(([set, texts]) => ({
      set,
      entries: [...texts].flatMap(text => select(set, text) ?? []),
    }));
    const changes = chosen.filter(({ entries }) => entries.length > 0);
    const count = changes.reduce((sum, { entries }) => sum + entries.length, 0);
    const commands = changes.map(({ set, entries }): Command => ({ kind, name: setName(set, this.#family), entries }));
    const refusals = await this.#run(commands, count);
    const refused = new Map(refusals.map(refusal => [refusal.object, refusal]));
    for (const { set, entries } of changes) {
      const accepted = entries.filter(entry => !refused.has(elementId(set, printElement(entry), this.#family)));
      for (const entry of accepted) this.#note(kind, set, entry);
      written.add(`${kind === 'add' ? 'added' : 'deleted'} element in ${setName(set, this.#family)}`, accepted.length);
    }
    return refusals;
  }

  #note(kind: 'add' | 'del', set: SetKey, entry: Element): void {
    const known = this.#known.get(set);
    if (kind === 'add') known?.set(printElement(entry), entry);
    else known?.delete(printElement(entry));
  }

  async #run(commands: readonly Command[], objects: number): Promise<readonly Refused[]> {
    if (commands.length === 0) return [];
    const refusals = await timed(this.#measured, objects, () => this.#socket.restore(commands, { exist: true }));
    return refusals.flatMap(({ command, error }) => {
      const isStale = error.errno === 'ENOENT';
      if (command.kind !== 'add' && command.kind !== 'del') return [{ object: '', error, isStale }];
      return command.entries.map(entry => ({
        object: `${command.name} ${printElement(entry)}`,
        error,
        isStale,
      }));
    });
  }
}

/** How a refused element is named. */
export function elementId(set: SetKey, text: string, family: Family): string {
  return `${setName(set, family)} ${text}`;
}
