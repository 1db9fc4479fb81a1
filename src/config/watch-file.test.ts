import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigurationFile, type WatchOptions } from './index.ts';

/** A folder with what happens in it; events only, unless polling is asked for. */
class Watched {
  readonly folder = mkdtempSync(join(tmpdir(), 'config-'));
  readonly told: string[] = [];
  #file: ConfigurationFile | undefined;
  #waiting: (() => void) | undefined;

  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  watch(path: string, options: Partial<WatchOptions> = {}): void {
    const onChange = (text: string) => {
      this.told.push(text);
      this.#waiting?.();
    };
    this.#file = ConfigurationFile.watch(path, { text: 'one', settleMs: 5, pollMs: 60_000, ...options, onChange });
  }

  async next(): Promise<string | undefined> {
    const before = this.told.length;
    const changed = new Promise<void>(resolve => {
      this.#waiting = resolve;
    });
    const deadline = new AbortController();
    const late = sleep(3000, undefined, { signal: deadline.signal }).catch(() => undefined);
    await Promise.race([changed, late]);
    deadline.abort();
    return this.told[before];
  }

  /** Long enough for whatever is on the way. */
  async quiet(): Promise<readonly string[]> {
    await sleep(40);
    return this.told;
  }

  close(): void {
    this.#file?.close();
    rmSync(this.folder, { recursive: true });
  }
}

async function watching(run: (watched: Watched) => Promise<void>): Promise<void> {
  const watched = new Watched();
  try {
    await run(watched);
  } finally {
    watched.close();
  }
}

describe('a configuration file', () => {
  test('CONF-15 written in place is told once, with what is in it then', () =>
    watching(async watched => {
      const path = watched.path('config.yaml');
      writeFileSync(path, 'one');
      watched.watch(path);
      await watched.quiet();
      writeFileSync(path, 'two');
      assert.equal(await watched.next(), 'two');
      truncateSync(path);
      for (const piece of ['t', 'hr', 'ee']) appendFileSync(path, piece);
      assert.equal(await watched.next(), 'three');
      assert.deepEqual(await watched.quiet(), ['two', 'three']);
    }));

  test('CONF-15 replaced by a rename is told, again and again', () =>
    watching(async watched => {
      const path = watched.path('config.yaml');
      writeFileSync(path, 'one');
      watched.watch(path);
      for (const text of ['two', 'three', 'four']) {
        writeFileSync(watched.path('new'), text);
        renameSync(watched.path('new'), path);
        assert.equal(await watched.next(), text);
      }
    }));

  test('CONF-15 in a mounted ConfigMap is told when the symlink above it is swapped', () =>
    watching(async watched => {
      const swap = (version: string, text: string) => {
        mkdirSync(watched.path(version));
        writeFileSync(watched.path(version, 'config.conf'), text);
        symlinkSync(version, watched.path('..data_tmp'));
        renameSync(watched.path('..data_tmp'), watched.path('..data'));
      };
      swap('..1', 'one');
      symlinkSync('..data/config.conf', watched.path('config.conf'));
      watched.watch(watched.path('config.conf'));
      for (const [version, text] of [
        ['2', 'two'],
        ['3', 'three'],
      ] as const) {
        swap(`..${version}`, text);
        rmSync(watched.path(`..${Number(version) - 1}`), { recursive: true });
        assert.equal(await watched.next(), text);
      }
    }));

  test('CONF-15 that is a symlink into another folder is told when it is written there', () =>
    watching(async watched => {
      mkdirSync(watched.path('elsewhere'));
      mkdirSync(watched.path('here'));
      writeFileSync(watched.path('elsewhere', 'real'), 'one');
      symlinkSync('../elsewhere/real', watched.path('here', 'config.yaml'));
      watched.watch(watched.path('here', 'config.yaml'));
      await watched.quiet();
      writeFileSync(watched.path('elsewhere', 'real'), 'two');
      assert.equal(await watched.next(), 'two');
    }));

  test('CONF-15 that is gone or empty for a moment is told when it is back, if it differs', () =>
    watching(async watched => {
      const path = watched.path('config.yaml');
      writeFileSync(path, 'one');
      watched.watch(path);
      await watched.quiet();
      rmSync(path);
      assert.deepEqual(await watched.quiet(), []);
      writeFileSync(path, '');
      assert.deepEqual(await watched.quiet(), []);
      writeFileSync(path, 'one');
      assert.deepEqual(await watched.quiet(), []);
      writeFileSync(path, 'two');
      assert.equal(await watched.next(), 'two');
    }));

  test('CONF-15 that changed between reading and watching is told', () =>
    watching(async watched => {
      writeFileSync(watched.path('config.yaml'), 'two');
      watched.watch(watched.path('config.yaml'));
      assert.equal(await watched.next(), 'two');
    }));

  test('CONF-15 is polled where there are no events, as for a folder that does not exist yet', () =>
    watching(async watched => {
      watched.watch(watched.path('later', 'config.yaml'), { pollMs: 20 });
      await watched.quiet();
      mkdirSync(watched.path('later'));
      writeFileSync(watched.path('later', 'config.yaml'), 'two');
      assert.equal(await watched.next(), 'two');
    }));

  test('CONF-15 is not told after close', () =>
    watching(async watched => {
      writeFileSync(watched.path('config.yaml'), 'one');
      const told: string[] = [];
      const options = { text: 'one', settleMs: 5, pollMs: 5, onChange: (text: string) => told.push(text) };
      const file = ConfigurationFile.watch(watched.path('config.yaml'), options);
      writeFileSync(watched.path('config.yaml'), 'two');
      file.close();
      await watched.quiet();
      assert.deepEqual(told, []);
    }));

  test('CONF-15 that is no file is not opened', () =>
    watching(async watched => {
      mkdirSync(watched.path('config.yaml'));
      watched.watch(watched.path('config.yaml'));
      assert.deepEqual(await watched.quiet(), []);
    }));
});
