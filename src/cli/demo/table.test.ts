import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { observation, resultsOf } from '../../../test/support/demo-results.ts';
import { demoRows } from '../../../test/support/demo-rows.ts';
import { service, slice } from '../../../test/support/objects.ts';
import type { Place, RowResults } from '../../demo/index.ts';
import { styleFor } from '../style.ts';
import { visibleLength } from '../terminal-text.ts';
import { PlainLines } from './plain-lines.ts';
import { tableLines } from './table.ts';

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

const show = (rows: readonly RowResults[], width = 110, problems: readonly string[] = []) =>
  tableLines({ manifests: 'examples', rows, problems }, PLAIN, width);

describe('the demo table', () => {
  test('DEMO-5 the table shows every address of every Service, its endpoints, and the result from each place', () => {
    assert.deepEqual(show(rowsAsPlanned()), [
      'Pointsman  nftables mode, 2 Services of examples                                            ✓ all 9 as planned',
      "Edit examples to see changes. Ctrl-C ends. as node: endpoints see the node's address.",
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
    const lines = [
      ...tableLines({ manifests: 'm', rows, problems: ['bad\x1b[2J\nname'] }, PLAIN, 200),
      ...new PlainLines().newLines(rows),
    ];
    assert.doesNotMatch(lines.join(''), /\p{C}/u);
    assert.ok(lines.some(line => line.includes(String.raw`default/web\x1b[2J\u009b1m\u202e\r\n:p\a`)));
  });

  test('DEMO-5 the table shows problems before the rows', () => {
    const lines = show(rowsAsPlanned(), 110, ['web.yaml:3:1: is no YAML']);
    assert.equal(lines[2], '! web.yaml:3:1: is no YAML');
  });

  test('DEMO-5 on a narrow terminal, the table has no kinds of addresses and no percent signs', () => {
    const lines = show(rowsAsPlanned(), 80);
    assert.ok(lines.includes('✓ 10.96.0.10:80      ①52 ②48           ①52 ②48, as node  ①52 ②48, as node'));
  });

  test('DEMO-5 no line is wider than the terminal, with or without colours', () => {
    for (const style of [PLAIN, COLOURED]) {
      for (const width of [0, 1, 20, 40, 79, 80, 81, 200]) {
        const lines = tableLines(
          { manifests: 'examples', rows: rowsAsPlanned(), problems: ['p'.repeat(300)] },
          style,
          width,
        );
        for (const line of lines) assert.ok(visibleLength(line) <= width, `${width}: ${line}`);
      }
    }
  });

  test('DEMO-5 the text is the same with and without colours', () => {
    const coloured = tableLines({ manifests: 'examples', rows: rowsAsPlanned(), problems: [] }, COLOURED, 110);
    assert.ok(coloured.some(line => line.includes('\x1b[')));
    const stripped = coloured.map(line => line.replaceAll(COLOUR, ''));
    assert.deepEqual(stripped, show(rowsAsPlanned()));
  });

  test('DEMO-5 NO_COLOR switches colours off on a terminal', () => {
    const style = styleFor({ isTTY: true }, { TERM: 'xterm', NO_COLOR: '1' });
    const lines = tableLines({ manifests: 'examples', rows: rowsAsPlanned(), problems: [] }, style, 110);
    assert.deepEqual(lines, show(rowsAsPlanned()));
  });

  test('DEMO-5 the table shows an SCTP port, but the demo does not test it', () => {
    const rows = demoRows([service('s', { ports: [{ protocol: 'SCTP' }] })]);
    const lines = show(resultsOf(rows, () => undefined).rows);
    assert.match(lines[0] ?? '', /✓ all 0 as planned$/);
    assert.match(lines.at(-1) ?? '', /^· 10\.96\.0\.1:80 .*SCTP is not tested/);
  });
});
