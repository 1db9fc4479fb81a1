import { setImmediate as nextTurn } from 'node:timers/promises';
import { KernelError } from '../../../kernel/errors.ts';
import { type Command, type Element, type IpsetSocket, printElement } from '../../../kernel/ipset/index.ts';
import type { Family } from '../../../net/index.ts';
import { type ElementBatch, elementsToAdd, elementsToDelete, type KnownElements } from '../diff.ts';
import { elementId, ipSet, SET_KEYS, SETS, type SetKey, setName } from '../names.ts';
import type { ElementNames, WantedObjects } from '../wanted/wanted-objects.ts';
import { type BatchObserver, measureBatch, type RefusedObject, type WriteSummary } from './write-report.ts';

/** The sets of one family, and the elements that the kernel has in them, as far as the mode knows. */
export class SetTable {
  readonly #socket: IpsetSocket;
  readonly #family: Family;
  readonly #observe: BatchObserver;
  readonly #known = new Map<SetKey, Map<string, Element>>();
  #missing: readonly SetKey[] = [];
  /** How many rules used each set when the mode last wrote rules. */
  #references = new Map<string, number>();

  constructor(socket: IpsetSocket, family: Family, observe: BatchObserver) {
    this.#socket = socket;
    this.#family = family;
    this.#observe = observe;
  }

  get known(): KnownElements {
    return this.#known;
  }

  /** The sets that the kernel did not have when the mode last read it. */
  get missing(): readonly SetKey[] {
    return this.#missing;
  }

  has(set: SetKey, element: Element): boolean {
    return this.#known.get(set)?.has(printElement(element)) ?? false;
  }

  async read(): Promise<void> {
    const types = new Map([...this.#socket.headers()].map(({ name, type }) => [name, type]));
    const typeOf = (key: SetKey) => types.get(setName(key, this.#family));
    for (const key of SET_KEYS) this.#checkType(key, typeOf(key));
    this.#missing = SET_KEYS.filter(key => typeOf(key) === undefined);
    for (const key of this.#missing) this.#known.set(key, new Map());
    for (const key of SET_KEYS.filter(key => typeOf(key) !== undefined)) {
      const elements = this.#socket.entries(setName(key, this.#family));
      this.#known.set(key, new Map(Array.from(elements, element => [printElement(element), element])));
      this.#observe(1, 0);
      await nextTurn();
    }
  }

  async createMissing(summary: WriteSummary): Promise<void> {
    const creates = this.#missing.map((key): Command => ({ kind: 'create', set: ipSet(key, this.#family) }));
    const [refused] = await this.#run(creates, creates.length);
    if (refused) throw refused.error;
    summary.add('created set', creates.length);
    this.#missing = [];
  }

  add(names: ElementNames, wanted: WantedObjects, summary: WriteSummary): Promise<readonly RefusedObject[]> {
    return this.#change('add', elementsToAdd(names, wanted, this.#known), summary);
  }

  remove(names: ElementNames, wanted: WantedObjects, summary: WriteSummary): Promise<readonly RefusedObject[]> {
    return this.#change('del', elementsToDelete(names, wanted, this.#known), summary);
  }

  /** Remembers how many rules use each set, because the mode has just written them. */
  noteReferences(): void {
    const names = new Set(SET_KEYS.map(key => setName(key, this.#family)));
    const headers = [...this.#socket.headers()].filter(({ name }) => names.has(name));
    this.#references = new Map(headers.map(({ name, references }) => [name, references]));
  }

  /** Finds sets that another program deleted or changed in size, and rules that it removed. Reads only headers. */
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
    batches: readonly ElementBatch[],
    summary: WriteSummary,
  ): Promise<readonly RefusedObject[]> {
    const count = batches.reduce((sum, { elements }) => sum + elements.length, 0);
    const commands = batches.map(
      ({ set, elements }): Command => ({ kind, name: setName(set, this.#family), entries: elements }),
    );
    const refusals = await this.#run(commands, count);
    const refused = new Set(refusals.map(({ id }) => id));
    for (const { set, elements } of batches) {
      const accepted = elements.filter(element => !refused.has(elementId(set, printElement(element), this.#family)));
      for (const element of accepted) this.#note(kind, set, element);
      summary.add(`${kind === 'add' ? 'added' : 'deleted'} element in ${setName(set, this.#family)}`, accepted.length);
    }
    return refusals;
  }

  #note(kind: 'add' | 'del', set: SetKey, element: Element): void {
    const known = this.#known.get(set);
    if (kind === 'add') known?.set(printElement(element), element);
    else known?.delete(printElement(element));
  }

  async #run(commands: readonly Command[], objects: number): Promise<readonly RefusedObject[]> {
    if (commands.length === 0) return [];
    const refusals = await measureBatch(this.#observe, objects, () => this.#socket.restore(commands, { exist: true }));
    return refusals.flatMap(({ command, error }) => {
      const isStale = error.errno === 'ENOENT';
      if (command.kind !== 'add' && command.kind !== 'del') return [{ id: '', error, isStale }];
      return command.entries.map(entry => ({ id: `${command.name} ${printElement(entry)}`, error, isStale }));
    });
  }
}
