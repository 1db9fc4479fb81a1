import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

/** The bundle of the tests cannot contain these scripts, because they look for files beside themselves. */
const fromScripts = (name: string) => import(pathToFileURL(`scripts/${name}`).href);
const { bundle }: typeof import('../scripts/build.mjs') = await fromScripts('build.mjs');
const { oldest, versionProblem }: typeof import('../scripts/node-version.mjs') = await fromScripts('node-version.mjs');

const FOLDER = mkdtempSync(join(tmpdir(), 'node-version-'));
/** Makes Node say that it is older than it is. */
const PRETEND = join(FOLDER, 'pretend.cjs');
writeFileSync(
  PRETEND,
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } });\n",
);
const MESSAGE = `Pointsman needs Node.js ${oldest} or newer. This is Node.js 20.0.0.\n`;

function runOnOldNode(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--require', PRETEND, ...args], {
    encoding: 'utf8',
    timeout: 10_000,
  });
  return { status, stdout, stderr };
}

describe('the version of Node', () => {
  after(() => rmSync(FOLDER, { recursive: true }));

  for (const [version, isOldEnough] of [
    ['20.18.0', true],
    ['20.19.3', true],
    ['21.0.0', true],
    ['24.1.0', true],
    ['20.17.9', false],
    ['20.0.0', false],
    ['18.20.0', false],
  ] as const) {
    test(`ARCH-17 Node ${version} ${isOldEnough ? 'is new enough' : 'is too old'} if 20.18 is needed`, () =>
      assert.equal(versionProblem('20.18', version) === undefined, isOldEnough));
  }

  const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(readFileSync('package.json', 'utf8'));
  const commands = Object.values(scripts).flatMap(command => /^node (\S+\.mjs)/.exec(command)?.[1] ?? []);
  for (const script of [...new Set(commands), 'scripts/control-plane.mjs', 'bin/kube-proxy']) {
    test(`ARCH-17 on an older Node, ${script} says which version is needed, and does nothing else`, () =>
      assert.deepEqual(runOnOldNode(script, '--help'), { status: 1, stdout: '', stderr: MESSAGE }));
  }

  test('ARCH-17 on an older Node, the built program says which version is needed', async () => {
    writeFileSync(join(FOLDER, 'main.ts'), "console.log('it runs');\n");
    await bundle({ main: join(FOLDER, 'main.ts') }, FOLDER);
    assert.deepEqual(runOnOldNode(join(FOLDER, 'main.mjs')), { status: 1, stdout: '', stderr: MESSAGE });
    assert.equal(spawnSync(process.execPath, [join(FOLDER, 'main.mjs')], { encoding: 'utf8' }).stdout, 'it runs\n');
  });
});
