import { BpfMap, closeObject, mapInfo, type PinFolder } from '../../../kernel/bpf/index.ts';
import { KernelError } from '../../../kernel/errors.ts';
import { STATE_MAPS, type StateMapName } from '../names.ts';
import { mapSpec } from '../programs/index.ts';

/** The kernel takes the memory of an affinity map at once: 6 and 7 MiB. An active endpoint takes memory when it is there. */
const ENTRIES = 65_536;

/** The maps that outlive generations: what sockets and clients remember. Pins keep them while no process runs. */
export class StateMapStore {
  readonly #folder: PinFolder | undefined;
  readonly #notice: (message: string) => void;
  readonly #maps = new Map<StateMapName, BpfMap>();

  constructor(folder: PinFolder | undefined, notice: (message: string) => void) {
    this.#folder = folder;
    this.#notice = notice;
  }

  get maps(): ReadonlyMap<StateMapName, BpfMap> {
    return this.#maps;
  }

  /** Opens or makes the maps that a generation needs, and pins those without a pin. */
  keep(names: readonly StateMapName[]): void {
    for (const name of names) {
      const map = this.#maps.get(name) ?? this.#adopt(name) ?? BpfMap.create(mapSpec(name, ENTRIES));
      this.#maps.set(name, map);
      if (this.#folder && !this.isPinned(name)) this.#folder.pin(name, map.fd);
    }
  }

  /** Gives back the memory of maps that no program uses any more. */
  dropOthers(names: readonly StateMapName[]): void {
    this.drop(STATE_MAPS.filter(name => !names.includes(name)));
  }

  /** The next generation that needs these maps gets empty ones. */
  drop(names: readonly StateMapName[]): void {
    for (const name of names) {
      this.#maps.get(name)?.close();
      this.#maps.delete(name);
      this.#folder?.unpin(name);
    }
  }

  /** What is wrong with the pins, in words. Undefined if nothing is. */
  pinProblem(): string | undefined {
    if (!this.#folder) return undefined;
    for (const name of this.#maps.keys()) if (!this.isPinned(name)) return `the pin of map ${name} was removed`;
    return undefined;
  }

  isPinned(name: StateMapName): boolean {
    const fd = this.#folder?.open(name);
    if (fd === undefined) return false;
    try {
      const map = this.#maps.get(name);
      return map !== undefined && mapInfo(fd).id === mapInfo(map.fd).id;
    } finally {
      closeObject(fd);
    }
  }

  close(): void {
    for (const map of this.#maps.values()) map.close();
    this.#maps.clear();
  }

  /** A map that a former process pinned. Undefined if there is none of this shape. */
  #adopt(name: StateMapName): BpfMap | undefined {
    const fd = this.#folder?.open(name);
    if (fd === undefined) return undefined;
    const map = mapOfShape(fd, mapSpec(name, ENTRIES));
    if (map) return map;
    closeObject(fd);
    this.#notice(`the pinned map ${name} has another shape, so it is replaced: ${LOSS[name]}`);
    return undefined;
  }
}

const CLIENTS_FORGET = 'clients with session affinity may get another endpoint';
const COUNTS_FORGET = 'least connections begins to count at zero';
const LOSS: Readonly<Record<StateMapName, string>> = {
  peers: 'sockets that are connected forget their Service',
  affinity4: CLIENTS_FORGET,
  affinity6: CLIENTS_FORGET,
  active4: COUNTS_FORGET,
  active6: COUNTS_FORGET,
};

/** The name counts too. A version with another meaning of the same bytes gives its map another name. */
function mapOfShape(fd: number, spec: BpfMap['spec']): BpfMap | undefined {
  try {
    const { name, entries } = mapInfo(fd);
    return name === spec.name && entries === spec.entries ? BpfMap.of(fd, spec) : undefined;
  } catch (error) {
    // The pin is no map, or a map of another type.
    if (error instanceof KernelError) return undefined;
    throw error;
  }
}
