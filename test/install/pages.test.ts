import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { blocksOf } from './page.ts';

const FOLDER = 'docs/install';
const MONITORING = 'deploy/monitoring';

const pages = readdirSync(FOLDER)
  .filter(name => name !== 'README.md')
  .map(name => name.replace('.md', ''));

describe('the pages of docs/install', () => {
  test('INST-4 the index names every page', () => {
    const index = readFileSync(`${FOLDER}/README.md`, 'utf8');
    assert.ok(pages.length > 7);
    assert.deepEqual(
      pages.filter(page => !index.includes(`(${page}.md)`)),
      [],
    );
  });

  test('INST-4 a block that no test runs says why, and every page has blocks that a test runs', () => {
    for (const page of pages) {
      const blocks = blocksOf(page);
      assert.ok(
        blocks.some(({ notRun }) => notRun === undefined),
        page,
      );
      for (const { notRun, text } of blocks) assert.ok(notRun === undefined || notRun.length > 10, text);
    }
  });

  test('INST-4 a test runs the blocks of every page', () => {
    const tests = readdirSync('test/install')
      .filter(name => name.endsWith('.cluster.test.ts'))
      .map(name => readFileSync(`test/install/${name}`, 'utf8'));
    for (const page of pages) {
      const asserts = new RegExp(`assertRanAll\\('${page}'\\)|PAGE = '${page}'[\\s\\S]*assertRanAll\\(PAGE\\)`);
      assert.ok(
        tests.some(text => asserts.test(text)),
        page,
      );
    }
  });
});

describe('the files of deploy/monitoring', () => {
  const [{ rules }] = parse(readFileSync(`${MONITORING}/alerts.yaml`, 'utf8')).groups;
  const alerts: readonly { alert: string; annotations: Readonly<Record<string, string>> }[] = rules;

  test('INST-12 prometheus-rule.yaml has the rules of alerts.yaml: run node scripts/prometheus-rule.mjs', () => {
    const text = execFileSync('node', ['scripts/prometheus-rule.mjs', '--print'], { encoding: 'utf8' });
    assert.equal(readFileSync(`${MONITORING}/prometheus-rule.yaml`, 'utf8'), text);
  });

  test('INST-12 the runbook has a section for each alert, with its meaning, a check and what to do', () => {
    const sections = readFileSync('docs/runbook.md', 'utf8').split(/^## /m).slice(1);
    assert.deepEqual(
      sections.map(section => section.split('\n')[0]),
      alerts.map(({ alert }) => alert),
    );
    for (const section of sections) {
      for (const part of ['**Meaning.**', '**Check.**', '**Do.**']) assert.ok(section.includes(part), section);
    }
    for (const { alert, annotations } of alerts)
      assert.equal(annotations.runbook_url, `docs/runbook.md#${alert.toLowerCase()}`);
  });

  test('INST-12 the PodMonitor leads to the metrics port of IPv4 and IPv6 pods', () => {
    const { spec } = parse(readFileSync(`${MONITORING}/pod-monitor.yaml`, 'utf8'));
    const addressOf = (ip: string) => {
      const rules = spec.podMetricsEndpoints[0].relabelings.filter(isAddressRule);
      assert.equal(rules.length, 2);
      const matching = rules.filter(({ regex }: Relabeling) => new RegExp(`^(?:${regex})$`).test(ip));
      assert.equal(matching.length, 1, ip);
      return matching[0].replacement.replace('$1', ip);
    };
    assert.equal(addressOf('192.168.0.2'), '192.168.0.2:10249');
    assert.equal(addressOf('fd00:192:168::2'), '[fd00:192:168::2]:10249');
  });

  test('INST-12 the rows of the dashboard about one mode are collapsed', () => {
    const { panels } = JSON.parse(readFileSync(`${MONITORING}/dashboard.json`, 'utf8'));
    const rows = panels.filter(({ type, title }: Panel) => type === 'row' && / mode$/.test(title));
    assert.deepEqual(
      rows.map(({ title, collapsed }: Panel) => [title, collapsed]),
      [
        ['Traffic of ipvs mode', true],
        ['Traffic of userspace mode', true],
        ['Sockets of ebpf mode', true],
      ],
    );
  });
});

interface Relabeling {
  readonly regex: string;
  readonly replacement: string;
  readonly targetLabel: string;
}

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly collapsed?: boolean;
}

function isAddressRule({ targetLabel }: Relabeling): boolean {
  return targetLabel === '__address__';
}
