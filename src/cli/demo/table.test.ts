import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { observation, resultsOf } from '../../../test/support/demo-results.ts';
import { demoRows } from '../../../test/support/demo-rows.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { DEFAULT_CALLERS, type Place, type RowResults } from '../../demo/index.ts';
import { type Style, styleFor } from '../style.ts';
import { visibleLength } from '../terminal-text.ts';
import { PlainLines } from './plain-lines.ts';
import { tablePicture, type View } from './table.ts';

const PLAIN = styleFor({ isTTY: false }, {});
const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');
const COLOURED = styleFor({ isTTY: true }, { TERM: 'xterm' });

const ROWS = demoRows([
  service('web', { clusterIP: '10.96.0.10', type: 'NodePort', ports: [{ name: 'http', nodePort: 30080 }] }),
  slice('web-1', ['10.244.1.11', '10.244.2.10', { ip: '10.244.2.11', ready: false }], {
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
  }),
  service('idle', { clusterIP: '10.96.0.60' }),
]);

const shared = (seenAs: string) => observation(`10.244.1.11:8080 52 ${seenAs}`, `10.244.2.10:8080 48 ${seenAs}`);

/** All results are as planned. */
function rowsAsPlanned(): readonly RowResults[] {
  return resultsOf(ROWS, (row, place) => {
    if (row.port.name === 'default/idle') return observation('refused');
    return shared(place === 'pod' && row.frontend.kind === 'ClusterIP' ? 'itself' : 'node');
  }).rows;
}

function rowsWithWebResult(place: Place, ...texts: string[]): readonly RowResults[] {
  return resultsOf(ROWS, (row, at) =>
    row.frontend.kind === 'ClusterIP' && row.port.name === 'default/web:http' && at === place
      ? observation(...texts)
      : undefined,
  ).rows;
}

function viewOf(rows: readonly RowResults[], problems: readonly string[] = []): View {
  return { manifests: 'examples', mode: 'noop', rows, callers: DEFAULT_CALLERS, problems, howToEnd: 'q' };
}

function tableLines(view: View, style: Style, width: number): readonly string[] {
  const { fixed, scrolled } = tablePicture(view, style, width);
  return [...fixed, ...scrolled];
}

const show = (rows: readonly RowResults[], width = 110, problems: readonly string[] = []) =>
  tableLines(viewOf(rows, problems), PLAIN, width);

describe('the demo table', () => {
  test('DEMO-11 the second line begins with the URL of the page', () => {
    const view = { ...viewOf(rowsAsPlanned()), pageUrl: 'http://127.0.0.1:10280/' };
    const line =
      "Page: http://127.0.0.1:10280/  Edit examples to see changes. q ends. as node: endpoints see the node's address.";
    assert.equal(tableLines(view, PLAIN, 120)[1], line);
    assert.equal(visibleLength(tableLines(view, COLOURED, 60)[1] ?? ''), 60);
  });

  test('DEMO-5 the table shows every address of every Service, its endpoints, and the result from each place', () => {
    assert.deepEqual(show(rowsAsPlanned()), [
      'Pointsman  noop mode, 2 Services of examples                                                ✓ all 9 as planned',
      "Edit examples to see changes. q ends. as node: endpoints see the node's address.",
      '                                pod 10.244.1.10     node 192.168.0.2    outside 192.168.0.100',
      'default/idle TCP → no endpoints',
      '✓ 10.96.0.60:80      ClusterIP  refused             refused             refused',
      'default/web:http TCP → ① 10.244.1.11:8080  ② 10.244.2.10:8080  · 10.244.2.11:8080 not ready',
      '✓ 10.96.0.10:80      ClusterIP  ①52% ②48%           ①52% ②48%, as node  ①52% ②48%, as node',
      '✓ 192.168.0.2:30080  NodePort   ①52% ②48%, as node  ①52% ②48%, as node  ①52% ②48%, as node',
    ]);
  });

  test('DEMO-5 a test without a certain result shows …', () => {
    const lines = show(rowsWithWebResult('pod', '10.244.1.11:8080 5', '10.244.2.10:8080 5'));
    assert.match(lines[0] ?? '', /… 1 of 9 tested$/);
    assert.ok(lines.includes('… 10.96.0.10:80      ClusterIP  ①50% ②50%        …                 …'), lines.join('\n'));
  });

  test('DEMO-5 a result that is not as planned has a mark, and the table shows the plan', () => {
    const lines = show(rowsWithWebResult('pod', '10.244.1.11:8080 5 node', '10.244.2.10:8080 5', 'silent'));
    assert.match(lines[0] ?? '', /✗ 1 of 9 not as planned$/);
    assert.match(lines.find(line => line.includes('10.96.0.10:80')) ?? '', /^✗ .* ✗ ①50% as node ②50% silent/);
    assert.ok(lines.includes('   ✗ pod: 10.244.1.11:8080 and 10.244.2.10:8080 should answer'), lines.join('\n'));
  });

  test('DEMO-5 an answer from an unknown address shows that address', () => {
    const lines = show(rowsWithWebResult('pod', '10.9.9.9:80 4 172.16.0.1'));
    assert.ok(
      lines.some(line => line.includes('✗ 10.9.9.9:80 100% as 172.16.0.1')),
      lines.join('\n'),
    );
  });

  test('DEMO-7 no name and no problem can control the terminal', () => {
    const hostile = demoRows([
      service('web\x1b[2J\x9b1m\u202e\r\n', { clusterIP: '10.96.0.10', ports: [{ name: 'p\x07' }] }),
    ]);
    const { rows } = resultsOf(hostile, () => observation('refused'));
    const lines = [...tableLines(viewOf(rows, ['bad\x1b[2J\nname']), PLAIN, 200), ...new PlainLines().newLines(rows)];
    assert.doesNotMatch(lines.join(''), /\p{C}/u);
    assert.ok(lines.some(line => line.includes(String.raw`default/web\x1b[2J\u009b1m\u202e\r\n:p\a`)));
  });

  test('DEMO-5 the table shows problems before the rows, wrapped and never cut', () => {
    const problem = 'web.yaml:3:1: Service default/web: spec.ports[0].port 99999 is not a port number from 1 to 65535';
    const lines = show(rowsAsPlanned(), 50, [problem]);
    assert.deepEqual(lines.slice(3, 6), [
      '! web.yaml:3:1: Service default/web:',
      '  spec.ports[0].port 99999 is not a port number',
      '  from 1 to 65535',
    ]);
  });

  test('DEMO-3 there is no tick in the summary while there is a problem', () => {
    assert.match(show(rowsAsPlanned(), 110, ['a', 'b'])[0] ?? '', / {2}! 2 problems, 9 of 9 as planned$/);
    const [line = ''] = tableLines(viewOf(rowsAsPlanned(), ['a']), COLOURED, 110);
    assert.ok(line.endsWith('\x1b[33m! 1 problem, 9 of 9 as planned\x1b[39m'), JSON.stringify(line));
    const unfinished = rowsWithWebResult('pod', '10.244.1.11:8080 5', '10.244.2.10:8080 5');
    assert.match(show(unfinished, 110, ['a'])[0] ?? '', /! 1 problem, 1 of 9 tested$/);
  });

  test('DEMO-5 on a narrow terminal, the table has no kinds of addresses and no percent signs', () => {
    const lines = show(rowsAsPlanned(), 80);
    assert.ok(lines.includes('✓ 10.96.0.10:80      ①52 ②48           ①52 ②48, as node  ①52 ②48, as node'));
  });

  test('DEMO-5 no line is wider than the terminal, with or without colours', () => {
    for (const style of [PLAIN, COLOURED]) {
      for (const width of [0, 1, 20, 40, 79, 80, 81, 200]) {
        const lines = tableLines(viewOf(rowsAsPlanned(), ['p'.repeat(300)]), style, width);
        for (const line of lines) assert.ok(visibleLength(line) <= width, `${width}: ${line}`);
      }
    }
  });

  test('DEMO-5 the text is the same with and without colours', () => {
    const coloured = tableLines(viewOf(rowsAsPlanned()), COLOURED, 110);
    assert.ok(coloured.some(line => line.includes('\x1b[')));
    const stripped = coloured.map(line => line.replaceAll(COLOUR, ''));
    assert.deepEqual(stripped, show(rowsAsPlanned()));
  });

  test('DEMO-5 NO_COLOR switches colours off on a terminal', () => {
    const style = styleFor({ isTTY: true }, { TERM: 'xterm', NO_COLOR: '1' });
    const lines = tableLines(viewOf(rowsAsPlanned()), style, 110);
    assert.deepEqual(lines, show(rowsAsPlanned()));
  });

  test('DEMO-5 the table shows an SCTP port, but the demo does not test it', () => {
    const rows = demoRows([service('s', { ports: [{ protocol: 'SCTP' }] })]);
    const lines = show(resultsOf(rows, () => undefined).rows);
    assert.match(lines[0] ?? '', /✓ all 0 as planned$/);
    assert.match(lines.at(-1) ?? '', /^· 10\.96\.0\.1:80 .*SCTP is not tested/);
  });
});
