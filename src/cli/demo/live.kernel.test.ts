import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { PseudoTerminal } from '../../../test/support/pseudo-terminal.ts';

const TIMEOUT_MS = 30_000;
const PAGE_DOWN = '\x1b[6~';
const UP = '\x1b[A';
const CTRL_C = '\x03';
const LEAVES_SCREEN = '\x1b[?25h\x1b[?1049l';

interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** Runs the program on a terminal, and then prints the terminal's settings. */
async function withDemo(size: Size, use: (terminal: PseudoTerminal) => Promise<void>, manifests = 'examples') {
  const command = `sh -c 'bin/kube-proxy demo --manifests ${manifests}; echo "status $?"; stty -a'`;
  const terminal = new PseudoTerminal(command, { ...size, timeoutMs: TIMEOUT_MS });
  try {
    await terminal.until('the table', ({ picture }) => / (?:✓ all|! 1 problem, 3 of 3) /.test(picture[0] ?? ''));
    await use(terminal);
  } finally {
    await terminal.close();
  }
}

/** The number of the first and the last line that the demo shows. */
function position({ picture }: PseudoTerminal): string | undefined {
  return picture.map(line => /^lines (\d+–\d+) of \d+;/.exec(line)?.[1]).find(Boolean);
}

function assertFits({ picture }: PseudoTerminal, { columns, rows }: Size): void {
  assert.ok(picture.length <= rows, `${picture.length} lines`);
  for (const line of picture) assert.ok([...line].length <= columns, line);
}

describe('the demo on a terminal', () => {
  for (const [key, name] of [
    ['q', 'q'],
    [CTRL_C, 'Ctrl-C'],
  ] as const) {
    test(`DEMO-8 ${name} ends the demo, and the terminal is as before`, async () => {
      await withDemo({ columns: 200, rows: 50 }, async terminal => {
        assertFits(terminal, { columns: 200, rows: 50 });
        assert.equal(position(terminal), undefined);
        terminal.type(key);
        assert.equal(await terminal.ended(), 0);
        const [, after = ''] = terminal.output.split(LEAVES_SCREEN);
        assert.match(after, /✓ all 36 as planned; nothing stays behind\.\r\nstatus 0\r\n/);
        assert.match(after, / icanon .* echo /s);
      });
    });
  }

  test('DEMO-8 keys scroll the table if it is longer than the terminal, and its head stays', async () => {
    const size = { columns: 80, rows: 16 };
    await withDemo(size, async terminal => {
      assertFits(terminal, size);
      assert.equal(position(terminal), '1–12');
      terminal.type(PAGE_DOWN);
      await terminal.until('another position', ({ picture }) => !picture.some(line => line.startsWith('lines 1–')));
      assertFits(terminal, size);
      assert.match(terminal.picture[0] ?? '', /^Pointsman {2}nftables mode, 6 Services of examples/);
      assert.match(terminal.picture[2] ?? '', /pod 10\.244\.1\.10/);
      terminal.type(UP.repeat(50));
      await terminal.until('the start', shown => position(shown) === '1–12');
      terminal.type('q');
      assert.equal(await terminal.ended(), 0);
    });
  });

  test('DEMO-5 a problem of a manifest is wrapped, and there is no tick', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'demo-'));
    try {
      cpSync('examples/web.yaml', join(folder, 'web.yaml'));
      const spec = 'spec: {clusterIP: 10.96.0.99, ports: [{port: 99999}]}';
      writeFileSync(join(folder, 'bad.yaml'), `apiVersion: v1\nkind: Service\nmetadata: {name: bad}\n${spec}\n`);
      const size = { columns: 60, rows: 40 };
      await withDemo(
        size,
        async terminal => {
          assertFits(terminal, size);
          const { picture } = terminal;
          assert.match(picture[0] ?? '', / ! 1 problem, \d of \d /);
          const at = picture.findIndex(line => line.startsWith('! '));
          const problem = picture.slice(at, picture.indexOf(picture.find(line => line.startsWith('default/')) ?? ''));
          assert.ok(problem.length > 1, 'the problem has several lines');
          assert.match(problem.join(' ').replaceAll(/\s+/g, ''), /Servicedefault\/bad.*port.*99999/);
          assert.ok(!problem.some(line => line.includes('…')));
          terminal.type('q');
          assert.equal(await terminal.ended(), 0);
        },
        folder,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
