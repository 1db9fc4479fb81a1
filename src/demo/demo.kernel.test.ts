import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { waitFor } from '../../test/support/wait-for.ts';
import { Demo } from './demo.ts';
import { Prober } from './prober.ts';
import type { RowResults } from './results.ts';

/** Long enough for a busy machine. */
const TIMEOUT_MS = 20_000;

/** A demo that runs on a copy of some examples until it is closed. */
class LiveDemo {
  readonly folder: string;
  readonly #demo: Demo;
  readonly #prober: Prober;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  private constructor(folder: string, demo: Demo, prober: Prober) {
    this.folder = folder;
    this.#demo = demo;
    this.#prober = prober;
    this.#ended = prober.run(this.#stop.signal);
  }

  static async start(...examples: string[]): Promise<LiveDemo> {
    const folder = mkdtempSync(join(tmpdir(), 'demo-'));
    for (const example of examples) cpSync(`examples/${example}`, join(folder, example));
    let prober: Prober | undefined;
    const demo = await Demo.start({ manifests: folder, onChange: () => prober?.restartRound() });
    prober = new Prober(demo, () => undefined);
    return new LiveDemo(folder, demo, prober);
  }

  async waitForRows(what: string, isReached: (rows: readonly RowResults[]) => boolean): Promise<void> {
    await waitFor(what, () => isReached(this.#prober.results.rows), { timeoutMs: TIMEOUT_MS });
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

/** Whether exactly these endpoints answer at the Service's first row, from every place, as the plan says. */
function isAnsweredBy(name: string, ...endpoints: string[]): (rows: readonly RowResults[]) => boolean {
  return rows => {
    const cells = rows.find(({ row }) => row.port.name === name)?.cells ?? [];
    const answering = cells.map(({ observed }) => [...(observed?.answers.keys() ?? [])].sort().join());
    return (
      cells.length > 0 &&
      cells.every(({ isConclusive, mismatch }) => isConclusive && mismatch === undefined) &&
      answering.every(text => text === endpoints.join())
    );
  };
}

const WEB = 'default/web:http';

describe('a live demo', () => {
  test('DEMO-4 manifests that are edited, added and deleted show', async () => {
    const live = await LiveDemo.start('node.yaml', 'web.yaml');
    try {
      await live.waitForRows('two pods answer', isAnsweredBy(WEB, '10.244.1.10:8080', '10.244.2.10:8080'));
      live.edit('web.yaml', text => text.replaceAll('10.244.2.10', '10.244.1.11'));
      await live.waitForRows('the other pod answers', isAnsweredBy(WEB, '10.244.1.10:8080', '10.244.1.11:8080'));
      cpSync('examples/idle.yaml', join(live.folder, 'idle.yaml'));
      await live.waitForRows('the new Service refuses', rows =>
        rows.some(({ row, cells }) => row.port.name === 'default/idle' && cells.every(cell => cell.isConclusive)),
      );
      rmSync(join(live.folder, 'web.yaml'));
      await live.waitForRows('the Service is gone', rows => rows.every(({ row }) => row.port.name !== WEB));
      assert.deepEqual(live.problems, []);
    } finally {
      await live.close();
    }
  });

  test('DEMO-4 a manifest that cannot be read is a problem, and its former objects stay in use', async () => {
    const live = await LiveDemo.start('node.yaml', 'web.yaml');
    try {
      await live.waitForRows('two pods answer', isAnsweredBy(WEB, '10.244.1.10:8080', '10.244.2.10:8080'));
      const good = readFileSync(join(live.folder, 'web.yaml'), 'utf8');
      live.edit('web.yaml', () => 'kind: [');
      await live.waitForRows('the problem shows', () => live.problems.length === 1);
      assert.match(live.problems[0] ?? '', /web\.yaml:1:\d+: .*stays in use/);
      live.edit('web.yaml', () => good.replaceAll('10.244.2.10', '10.244.1.11'));
      await live.waitForRows('the other pod answers', isAnsweredBy(WEB, '10.244.1.10:8080', '10.244.1.11:8080'));
      assert.deepEqual(live.problems, []);
    } finally {
      await live.close();
    }
  });

  test('DEMO-1 a folder that does not exist is refused', async () => {
    await assert.rejects(Demo.start({ manifests: '/nonesuch', onChange: () => undefined }), {
      message: 'cannot read manifests from /nonesuch: there is no such file or folder',
    });
  });
});
