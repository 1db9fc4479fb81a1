import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { BoardRow } from './board.ts';
import { Demo } from './demo.ts';
import { Rounds } from './rounds.ts';

/** Long enough for a busy machine. */
const PATIENCE_MS = 20_000;

/** A demo that goes on, on a copy of some examples. */
class LiveDemo {
  readonly folder: string;
  readonly #demo: Demo;
  readonly #rounds: Rounds;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #look: () => void = () => undefined;

  private constructor(folder: string, demo: Demo, changed: Changed) {
    this.folder = folder;
    this.#demo = demo;
    this.#rounds = new Rounds(demo, () => this.#look());
    changed.tell = () => this.#rounds.refresh();
    this.#ended = this.#rounds.run(this.#stop.signal);
  }

  static async start(...examples: string[]): Promise<LiveDemo> {
    const folder = mkdtempSync(join(tmpdir(), 'demo-'));
    for (const example of examples) cpSync(`examples/${example}`, join(folder, example));
    const changed: Changed = { tell: () => undefined };
    return new LiveDemo(folder, await Demo.start({ manifests: folder, changed: () => changed.tell() }), changed);
  }

  /** Waits until the rows look so. */
  async until(what: string, looksSo: (rows: readonly BoardRow[]) => boolean): Promise<void> {
    const isSo = () => looksSo(this.#rounds.board.rows);
    if (isSo()) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`not within time: ${what}`)), PATIENCE_MS);
      this.#look = () => {
        if (!isSo()) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  edit(name: string, change: (text: string) => string): void {
    const path = join(this.folder, name);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  }

  get problems(): readonly string[] {
    return this.#demo.problems;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
    await this.#demo.close();
    rmSync(this.folder, { recursive: true });
  }
}

interface Changed {
  tell: () => void;
}

/** Every place of the Service's first row is answered by exactly these, as the plan has it. */
function isAnsweredBy(name: string, ...endpoints: string[]): (rows: readonly BoardRow[]) => boolean {
  return rows => {
    const cells = rows.find(({ row }) => row.port.name === name)?.cells ?? [];
    return (
      cells.length > 0 &&
      cells.every(
        ({ seen, isSure, disagreement }) =>
          isSure && disagreement === undefined && [...(seen?.answers.keys() ?? [])].sort().join() === endpoints.join(),
      )
    );
  };
}

const WEB = 'default/web:http';

describe('a live demo', () => {
  test('DEMO-4 an edited manifest shows, and so do one that is added and one that is deleted', async () => {
    const live = await LiveDemo.start('node.yaml', 'web.yaml');
    try {
      await live.until('two pods answer', isAnsweredBy(WEB, '10.244.1.10:8080', '10.244.2.10:8080'));
      live.edit('web.yaml', text => text.replaceAll('10.244.2.10', '10.244.1.11'));
      await live.until('the other pod answers', isAnsweredBy(WEB, '10.244.1.10:8080', '10.244.1.11:8080'));
      cpSync('examples/idle.yaml', join(live.folder, 'idle.yaml'));
      await live.until('the new Service refuses', rows =>
        rows.some(({ row, cells }) => row.port.name === 'default/idle' && cells.every(cell => cell.isSure)),
      );
      rmSync(join(live.folder, 'web.yaml'));
      await live.until('the Service is gone', rows => rows.every(({ row }) => row.port.name !== WEB));
      assert.deepEqual(live.problems, []);
    } finally {
      await live.close();
    }
  });

  test('DEMO-4 a manifest that cannot be read is told, and what was read before goes on', async () => {
    const live = await LiveDemo.start('node.yaml', 'web.yaml');
    try {
      await live.until('two pods answer', isAnsweredBy(WEB, '10.244.1.10:8080', '10.244.2.10:8080'));
      const good = readFileSync(join(live.folder, 'web.yaml'), 'utf8');
      live.edit('web.yaml', () => 'kind: [');
      await live.until('the problem is told', () => live.problems.length === 1);
      assert.match(live.problems[0] ?? '', /web\.yaml:1:\d+: .*stays in use/);
      live.edit('web.yaml', () => good.replaceAll('10.244.2.10', '10.244.1.11'));
      await live.until('the other pod answers', isAnsweredBy(WEB, '10.244.1.10:8080', '10.244.1.11:8080'));
      assert.deepEqual(live.problems, []);
    } finally {
      await live.close();
    }
  });

  test('DEMO-1 a folder that is not there is refused', async () => {
    await assert.rejects(Demo.start({ manifests: '/nonesuch', changed: () => undefined }), {
      message: 'cannot read manifests from /nonesuch: there is no such file or folder',
    });
  });
});
