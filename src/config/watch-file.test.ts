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

/** A temporary folder with a watched file. By default the watch relies on events, because it polls once a minute. */
class WatchedFolder {
  readonly folder = mkdtempSync(join(tmpdir(), 'config-'));
  readonly reported: string[] = [];
  #file: ConfigurationFile | undefined;
  #waiting: (() => void) | undefined;

  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  watch(path: string, options: Partial<WatchOptions> = {}): void {
    const onChange = (text: string) => {
      this.reported.push(text);
      this.#waiting?.();
    };
    this.#file = ConfigurationFile.watch(path, { text: 'one', settleMs: 5, pollMs: 60_000, ...options, onChange });
  }

  async next(): Promise<string | undefined> {
    const before = this.reported.length;
    const changed = new Promise<void>(resolve => {
      this.#waiting = resolve;
    });
    const deadline = new AbortController();
    const late = sleep(3000, undefined, { signal: deadline.signal }).catch(() => undefined);
    await Promise.race([changed, late]);
    deadline.abort();
    return this.reported[before];
  }

  /** Waits long enough for a pending report, and returns all reports. */
  async settled(): Promise<readonly string[]> {
    await sleep(40);
    return this.reported;
  }

  close(): void {
    this.#file?.close();
    rmSync(this.folder, { recursive: true });
  }
}

async function watching(run: (watched: WatchedFolder) => Promise<void>): Promise<void> {
  const watched = new WatchedFolder();
  try {
    await run(watched);
  } finally {
    watched.close();
  }
}

describe('watching a configuration file', () => {
  test('CONF-15 a write in place is reported once, with the final text', () =>
    watching(async watched => {
      const path = watched.path('config.yaml');
      writeFileSync(path, 'one');
      watched.watch(path);
      await watched.settled();
      writeFileSync(path, 'two');
      assert.equal(await watched.next(), 'two');
      truncateSync(path);
      for (const piece of ['t', 'hr', 'ee']) appendFileSync(path, piece);
      assert.equal(await watched.next(), 'three');
      assert.deepEqual(await watched.settled(), ['two', 'three']);
    }));

  test('CONF-15 every replacement by a rename is reported', () =>
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

  test('CONF-15 every swap of the symlink in a mounted ConfigMap is reported', () =>
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

  test('CONF-15 a write to the target of a symlink in another folder is reported', () =>
    watching(async watched => {
      mkdirSync(watched.path('elsewhere'));
      mkdirSync(watched.path('here'));
      writeFileSync(watched.path('elsewhere', 'real'), 'one');
      symlinkSync('../elsewhere/real', watched.path('here', 'config.yaml'));
      watched.watch(watched.path('here', 'config.yaml'));
      await watched.settled();
      writeFileSync(watched.path('elsewhere', 'real'), 'two');
      assert.equal(await watched.next(), 'two');
    }));

  test('CONF-15 a file that was missing or empty for a moment is reported only if its text differs', () =>
    watching(async watched => {
      const path = watched.path('config.yaml');
      writeFileSync(path, 'one');
      watched.watch(path);
      await watched.settled();
      rmSync(path);
      assert.deepEqual(await watched.settled(), []);
      writeFileSync(path, '');
      assert.deepEqual(await watched.settled(), []);
      writeFileSync(path, 'one');
      assert.deepEqual(await watched.settled(), []);
      writeFileSync(path, 'two');
      assert.equal(await watched.next(), 'two');
    }));

  test('CONF-15 a change between reading and watching is reported', () =>
    watching(async watched => {
      writeFileSync(watched.path('config.yaml'), 'two');
      watched.watch(watched.path('config.yaml'));
      assert.equal(await watched.next(), 'two');
    }));

  test('CONF-15 a poll finds a file that causes no events, such as a file in a new folder', () =>
    watching(async watched => {
      watched.watch(watched.path('later', 'config.yaml'), { pollMs: 20 });
      await watched.settled();
      mkdirSync(watched.path('later'));
      writeFileSync(watched.path('later', 'config.yaml'), 'two');
      assert.equal(await watched.next(), 'two');
    }));

  test('CONF-15 nothing is reported after close', () =>
    watching(async watched => {
      writeFileSync(watched.path('config.yaml'), 'one');
      const reported: string[] = [];
      const options = { text: 'one', settleMs: 5, pollMs: 5, onChange: (text: string) => reported.push(text) };
      const file = ConfigurationFile.watch(watched.path('config.yaml'), options);
      writeFileSync(watched.path('config.yaml'), 'two');
      file.close();
      await watched.settled();
      assert.deepEqual(reported, []);
    }));

  test('CONF-15 a folder in place of the file is not opened', () =>
    watching(async watched => {
      mkdirSync(watched.path('config.yaml'));
      watched.watch(watched.path('config.yaml'));
      assert.deepEqual(await watched.settled(), []);
    }));
});
