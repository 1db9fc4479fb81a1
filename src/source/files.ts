import { basename } from 'node:path';
import type { Node, ObjectLookup } from '../api/index.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { errorText } from '../lib/error-text.ts';
import { ReportOnce } from '../lib/report-once.ts';
import { FolderWatch } from './folder-watch.ts';
import { GuardedHandlers } from './guarded-handlers.ts';
import { listManifestFiles, type ManifestListing } from './list-manifest-files.ts';
import { duplicateProblems, ManifestCollection } from './manifest-collection.ts';
import { ManifestFiles } from './manifest-files.ts';
import { manifestKey } from './parse-manifests.ts';
import { pathReason, unreadablePath } from './read-text.ts';
import { ScanSchedule } from './scan-schedule.ts';
import { isSelected } from './selectors.ts';
import type { Source, SourceHandlers } from './source.ts';
import type { ManifestRules } from './validate-addresses.ts';

export interface FilesSourceOptions extends Partial<ManifestRules> {
  /** A folder of manifests, or one file. */
  readonly path: string;
  readonly nodeName: string;
  /** Makes the proxy's own Node. The source uses it if no manifest has that Node. */
  readonly localNode?: () => Node;
  /** The source reads changed files when nothing has changed for this long. */
  readonly debounceMs?: number;
  /** The source looks at all files this often, because some file systems do not report changes. */
  readonly rescanMs?: number;
  readonly clock?: Clock;
}

const DEBOUNCE_MS = 50;
const RESCAN_MS = 10_000;
const THIS_MACHINE = '(this machine)';

interface StartedSource {
  readonly handlers: GuardedHandlers;
  readonly files: ManifestFiles;
}

/** Objects from manifests in files, without a cluster. */
export class FilesSource implements Source {
  readonly #options: FilesSourceOptions;
  readonly #clock: Clock;
  readonly #collection = new ManifestCollection();
  readonly #watch: FolderWatch;
  readonly #schedule: ScanSchedule;
  readonly #rescanMs: number;
  readonly #reported = new ReportOnce();
  #started: StartedSource | undefined;
  #firstScan: Promise<unknown> | undefined;
  #parent: string | undefined;

  constructor(options: FilesSourceOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#rescanMs = options.rescanMs ?? RESCAN_MS;
    this.#watch = new FolderWatch({
      changed: (folder, name) => this.#folderChanged(folder, name),
      failed: (folder, message) => this.#watchFailed(folder, message),
    });
    this.#schedule = new ScanSchedule({
      clock: this.#clock,
      debounceMs: options.debounceMs ?? DEBOUNCE_MS,
      rescanMs: this.#rescanMs,
      scan: () => this.#laterScan(),
    });
  }

  /** Resolves when the handlers have all existing objects. Rejects if the path cannot be read. */
  async start(sourceHandlers: SourceHandlers): Promise<void> {
    if (this.#started) throw new Error('the source was started before');
    const handlers = new GuardedHandlers(sourceHandlers);
    const { allowLoopbackEndpoints = false } = this.#options;
    const rules = { allowLoopbackEndpoints };
    this.#started = { handlers, files: new ManifestFiles(this.#collection, handlers, this.#clock, rules) };
    const firstScan = this.#scan(this.#started);
    this.#firstScan = firstScan;
    try {
      await firstScan;
    } catch (error) {
      throw unreadablePath(this.#options.path, error);
    }
    handlers.synced();
    // Files may have changed after the first listing and before the folders were watched.
    this.#schedule.start();
    this.#schedule.request();
  }

  async close(): Promise<void> {
    this.#started?.handlers.close();
    await Promise.allSettled([this.#firstScan, this.#schedule.close()]);
    this.#watch.close();
  }

  get objects(): ObjectLookup {
    return this.#collection.objects;
  }

  async #laterScan(): Promise<boolean> {
    if (!this.#started) return false;
    const { handlers } = this.#started;
    const { path } = this.#options;
    try {
      const isAnotherNeeded = await this.#scan(this.#started);
      if (this.#reported.delete(path)) handlers.recovered(path);
      return isAnotherNeeded;
    } catch (error) {
      const message = `${pathReason(error)} (what was read before stays in use)`;
      if (this.#reported.add(path, message)) handlers.problem({ where: path, reason: 'unreadable', message });
      return false;
    }
  }

  /** Returns true if another scan is needed soon. */
  async #scan({ handlers, files }: StartedSource): Promise<boolean> {
    const listing = await listManifestFiles(this.#options.path);
    const outdated = await files.update(listing);
    if (handlers.closed) return false;
    this.#updateLocalNode(handlers);
    this.#handOver(handlers, files);
    return this.#watchFolders(listing) || outdated;
  }

  #handOver(handlers: GuardedHandlers, files: ManifestFiles): void {
    const { nodeName } = this.#options;
    const { changes, duplicates, resolved } = this.#collection.takeChanges(object => isSelected(object, nodeName));
    for (const change of changes) handlers.changed(change);
    for (const path of resolved) if (!files.hasProblem(path)) handlers.recovered(path);
    for (const problem of duplicates.flatMap(duplicateProblems)) handlers.problem(problem);
  }

  /** A Node in a manifest replaces the one that is made from this machine. */
  #updateLocalNode(handlers: GuardedHandlers): void {
    const { localNode, nodeName } = this.#options;
    const key = manifestKey({ kind: 'Node', namespace: '', name: nodeName });
    const isInManifest = this.#collection.pathsOf(key).some(path => path !== THIS_MACHINE);
    if (!localNode || isInManifest) {
      this.#collection.put(THIS_MACHINE, new Map());
      return;
    }
    try {
      const manifest = { key, object: localNode(), where: THIS_MACHINE };
      this.#collection.put(THIS_MACHINE, new Map([[key, manifest]]));
      if (this.#reported.delete(THIS_MACHINE)) handlers.recovered(THIS_MACHINE);
    } catch (error) {
      const message = `cannot be made from this machine's addresses: ${errorText(error)}`;
      if (this.#reported.add(THIS_MACHINE, message)) handlers.problem({ where: THIS_MACHINE, object: key, message });
    }
  }

  #watchFolders({ folders, parent }: ManifestListing): boolean {
    this.#parent = parent?.path;
    return this.#watch.update(parent ? [parent, ...folders] : folders);
  }

  /** In the parent folder, only the path itself matters, and the link (`..data`) that a mounted ConfigMap changes. */
  #folderChanged(folder: string, name: string | null): void {
    const isNeighbour = folder === this.#parent && name !== null && name !== basename(this.#options.path);
    if (!isNeighbour || name.startsWith('..')) this.#schedule.request();
  }

  #watchFailed(folder: string, message: string): void {
    const effect = `the proxy looks for changes in it every ${this.#rescanMs / 1000} s only`;
    this.#started?.handlers.problem({ where: folder, message: `${message} (${effect})` });
  }
}
