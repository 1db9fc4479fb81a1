import { basename } from 'node:path';
import type { Node } from '../api/index.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { errorText } from '../lib/error-text.ts';
import { Collection } from './collection.ts';
import { ManifestFiles } from './manifest-files.ts';
import { manifestKey } from './manifests.ts';
import { PassSchedule } from './pass-schedule.ts';
import { cannotRead, errorCode } from './read-text.ts';
import { Receiver } from './receiver.ts';
import { type Scan, scanManifests } from './scan.ts';
import { isSelected } from './selectors.ts';
import type { Source, SourceHandlers } from './source.ts';
import { FolderWatch } from './watch.ts';

export interface FilesSourceOptions {
  /** A folder of manifests, or one file. */
  readonly path: string;
  readonly nodeName: string;
  /** The own Node, used while no manifest brings it. */
  readonly localNode?: () => Node;
  /** Changes are read once nothing has changed for so long, in milliseconds. */
  readonly debounce?: number;
  /** Everything is looked at again after this long, for file systems that do not tell of changes. */
  readonly rescan?: number;
  readonly clock?: Clock;
}

const DEBOUNCE_MS = 50;
const RESCAN_MS = 10_000;
const THIS_MACHINE = '(this machine)';

/** Objects from manifests in files. No cluster is needed. */
export class FilesSource implements Source {
  readonly #options: FilesSourceOptions;
  readonly #clock: Clock;
  readonly #collection = new Collection();
  readonly #watch: FolderWatch;
  readonly #schedule: PassSchedule;
  readonly #rescan: number;
  #files: ManifestFiles | undefined;
  #receiver: Receiver | undefined;
  #firstPass: Promise<unknown> | undefined;
  #parent: string | undefined;
  /** What keeps a path that was there from being read. */
  #lost: string | undefined;
  #localNodeProblem: string | undefined;

  constructor(options: FilesSourceOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#rescan = options.rescan ?? RESCAN_MS;
    this.#watch = new FolderWatch({
      changed: (folder, name) => this.#changed(folder, name),
      failed: (folder, message) => this.#unwatched(folder, message),
    });
    const debounce = options.debounce ?? DEBOUNCE_MS;
    const pass = () => this.#laterPass();
    this.#schedule = new PassSchedule({ clock: this.#clock, debounce, rescan: this.#rescan, pass });
  }

  /** Resolves when all that exists was handed over; rejects if the path cannot be read at all. */
  async start(handlers: SourceHandlers): Promise<void> {
    if (this.#receiver) throw new Error('the source was started before');
    const receiver = new Receiver(handlers);
    this.#receiver = receiver;
    this.#files = new ManifestFiles(this.#collection, receiver, this.#clock);
    const firstPass = this.#pass(receiver, this.#files);
    this.#firstPass = firstPass;
    try {
      await firstPass;
    } catch (error) {
      throw new Error(`cannot read manifests from ${this.#options.path}: ${reason(error)}`);
    }
    receiver.synced();
    // What changed between the first look and the watch is found by a second look.
    this.#schedule.start();
    this.#schedule.request();
  }

  async close(): Promise<void> {
    this.#receiver?.close();
    await Promise.allSettled([this.#firstPass, this.#schedule.close()]);
    this.#watch.close();
  }

  async #laterPass(): Promise<boolean> {
    const receiver = this.#receiver;
    if (!receiver || !this.#files) return false;
    const { path } = this.#options;
    try {
      const again = await this.#pass(receiver, this.#files);
      if (this.#lost !== undefined) receiver.recovered(path);
      this.#lost = undefined;
      return again;
    } catch (error) {
      const lost = reason(error);
      if (this.#lost !== lost)
        receiver.problem({ where: path, message: `${lost} (what was read before stays in use)` });
      this.#lost = lost;
      return false;
    }
  }

  /** True if another is needed soon. */
  async #pass(receiver: Receiver, files: ManifestFiles): Promise<boolean> {
    const scan = await scanManifests(this.#options.path);
    const outdated = await files.refresh(scan);
    if (receiver.closed) return false;
    this.#placeLocalNode(receiver);
    this.#handOver(receiver);
    return this.#watchFolders(scan) || outdated;
  }

  #handOver(receiver: Receiver): void {
    const { nodeName } = this.#options;
    const { changes, contests } = this.#collection.takeChanges(object => isSelected(object, nodeName));
    for (const change of changes) receiver.changed(change);
    for (const { key, winner, others } of contests) {
      for (const { where } of others) {
        receiver.problem({ where, object: key, message: `is also at ${winner.where}, which is used: take one away` });
      }
    }
  }

  #placeLocalNode(receiver: Receiver): void {
    const { localNode, nodeName } = this.#options;
    const key = manifestKey({ kind: 'Node', namespace: '', name: nodeName });
    const brought = this.#collection.owners(key).some(path => path !== THIS_MACHINE);
    if (!localNode || brought) {
      this.#collection.put(THIS_MACHINE, new Map());
      return;
    }
    try {
      const manifest = { key, object: localNode(), where: THIS_MACHINE };
      this.#collection.put(THIS_MACHINE, new Map([[key, manifest]]));
      this.#localNodeProblem = undefined;
    } catch (error) {
      const message = `the own Node cannot be told: ${errorText(error)}`;
      if (this.#localNodeProblem !== message) receiver.problem({ where: THIS_MACHINE, object: key, message });
      this.#localNodeProblem = message;
    }
  }

  #watchFolders({ folders, parent }: Scan): boolean {
    this.#parent = parent?.path;
    return this.#watch.update(parent ? [parent, ...folders] : folders);
  }

  /** Around the path itself, only its own name matters, and the link that a mounted ConfigMap changes. */
  #changed(folder: string, name: string | null): void {
    const beside = folder === this.#parent && name !== null && name !== basename(this.#options.path);
    if (!beside || name.startsWith('..')) this.#schedule.request();
  }

  #unwatched(folder: string, message: string): void {
    const effect = `changes in it are seen within ${this.#rescan / 1000} s only`;
    this.#receiver?.problem({ where: folder, message: `${message} (${effect})` });
  }
}

function reason(error: unknown): string {
  const code = errorCode(error);
  return code === 'ENOENT' ? 'there is no such file or folder' : cannotRead(code);
}
