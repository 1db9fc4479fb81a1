import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { describe, test } from 'node:test';
import { IMPORT_RULES } from './import-rules.ts';

/** Only these may use what reaches the kernel. */
const KERNEL_DOORS: readonly [what: string, pattern: RegExp][] = [
  ['koffi', /from 'koffi'/],
  ['processes', /from 'node:child_process'/],
  ['/proc or /sys', /['"`]\/(proc|sys)\//],
];

/** The files at the top of every mode folder. */
const MODE_OUTLINE = [
  'cleanup.ts',
  'diff.ts',
  'drift.ts',
  'index.ts',
  'listing.ts',
  'metrics.ts',
  'mode.ts',
  'names.ts',
  'preview.ts',
  'read-back.ts',
  'render.ts',
  'support.ts',
  'writer.ts',
];

/** Folders of modes/ that are no mode. Every mode may use them, and they use no mode. */
const SHARED_BY_MODES = ['ending', 'relay', 'traffic'];

/** Configuration, the flags that set it, and the registry. `kernel/` names subsystems and programs, not modes. */
const MAY_NAME_MODES = ['config', join('cli', 'kube-proxy'), join('modes', 'registry.ts'), 'kernel'];

/** What the page may take from packages. */
const PAGE_PACKAGES = ['preact', 'preact/hooks', '@preact/signals', 'uplot', 'uplot/dist/uPlot.min.css'];

interface Source {
  readonly path: string;
  readonly folder: string;
  readonly text: string;
}

const root = 'src';
const sources: readonly Source[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter(path => /\.tsx?$/.test(path))
  .map(path => ({
    path,
    folder: folderOf(path),
    text: readFileSync(join(root, path), 'utf8'),
  }));
const modeFolders = readdirSync(join(root, 'modes'), { withFileTypes: true })
  .filter(entry => entry.isDirectory() && !SHARED_BY_MODES.includes(entry.name))
  .map(({ name }) => name);
const product = sources.filter(({ path }) => !path.endsWith('.test.ts'));

/** The folder whose rules a file follows: `observe/http` rather than `observe` if that has rules of its own. */
function folderOf(path: string): string {
  const [first = '', second = '', ...rest] = path.split(sep);
  if (second === '') return '';
  const inner = `${first}/${second}`;
  return rest.length > 0 && inner in IMPORT_RULES ? inner : first;
}

/** Imports of other files in src/, as paths below it. */
function imports({ path, text }: Source): string[] {
  return [...text.matchAll(/from '(\.[^']+)'/g)].map(([, target = '']) =>
    relative(root, join(root, dirname(path), target)),
  );
}

function withoutTypes(source: Source): Source {
  return { ...source, text: source.text.replaceAll(/import type [^;]*;/g, '') };
}

/** Packages, and modules of Node.js, that a file imports. */
function packages({ text }: Source): string[] {
  return [...text.matchAll(/^(?:import|export) (?:[^;']* from )?'([^.'][^']*)'/gm)].map(([, name = '']) => name);
}

describe('architecture', () => {
  test('ARCH-1 every folder has its place in the order', () => {
    const folders = new Set(product.map(({ folder }) => folder).filter(Boolean));
    assert.deepEqual(
      [...folders].filter(folder => !(folder in IMPORT_RULES)),
      [],
    );
    assert.ok(folders.size > 5, 'the sources were found');
  });

  test('ARCH-1 nothing imports upwards', () => {
    const wrong = product.flatMap(source =>
      imports(source)
        .map(target => ({ target, folder: folderOf(target) }))
        .filter(({ folder, target }) => source.folder !== '' && folder !== source.folder && !target.startsWith('..'))
        .filter(({ folder }) => !IMPORT_RULES[source.folder]?.includes(folder))
        .map(({ target }) => `${source.path} imports ${target}`),
    );
    assert.deepEqual(wrong, []);
  });

  test('ARCH-1 ARCHITECTURE.md shows the import rules', () => {
    const document = readFileSync('ARCHITECTURE.md', 'utf8');
    const [, shown = ''] = /<!-- import-rules -->\n([\s\S]*)<!-- \/import-rules -->/.exec(document) ?? [];
    const wanted = importTable();
    assert.ok(shown === wanted, `ARCHITECTURE.md must show this table between its markers:\n\n${wanted}`);
  });

  test('ARCH-2 only kernel/ touches the kernel', () => {
    const wrong = product
      .filter(({ folder }) => folder !== 'kernel')
      .flatMap(({ path, text }) =>
        KERNEL_DOORS.filter(([, door]) => door.test(text)).map(([what]) => `${path}: ${what}`),
      );
    assert.deepEqual(wrong, []);
    assert.ok(
      product.some(({ folder, text }) => folder === 'kernel' && /from 'koffi'/.test(text)),
      'the pattern finds koffi',
    );
  });

  test('ARCH-3 a folder is entered through its index.ts', () => {
    // lib/ is a drawer of single files, kernel/ has doors of its own: one for each of its folders, and single files;
    // and each mode has one.
    const wrong = product.flatMap(source =>
      imports(source)
        .filter(target => !target.startsWith('..') && folderOf(target) !== 'lib')
        .filter(target => {
          const door = entrance(target);
          return door !== undefined && !source.path.startsWith(`${dirname(door)}${sep}`) && target !== door;
        })
        .map(target => `${source.path} imports ${target}`),
    );
    assert.deepEqual(wrong, []);
  });

  test('ARCH-4 no imports in a circle between files of the product, types apart', () => {
    const graph = new Map(product.map(source => [source.path, imports(withoutTypes(source))]));
    const done = new Set<string>();
    const visit = (path: string, trail: readonly string[]): void => {
      assert.ok(!trail.includes(path), `circle: ${[...trail, path].join(' → ')}`);
      if (done.has(path)) return;
      for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
      done.add(path);
    };
    for (const path of graph.keys()) visit(path, []);
  });

  test('ARCH-6 every mode folder has the same outline, and everything else in subfolders', () => {
    for (const mode of modeFolders) {
      const files = readdirSync(join(root, 'modes', mode)).filter(name => name.endsWith('.ts'));
      assert.deepEqual(files.filter(name => !name.endsWith('.test.ts')).sort(), [...MODE_OUTLINE], mode);
    }
    assert.ok(modeFolders.length >= 4, 'the modes were found');
  });

  test('ARCH-8 the page takes only types from the rest of the program, apart from lib/', () => {
    const app = join('page', 'app', sep);
    const ofApp = product.filter(({ path }) => path.startsWith(app)).map(withoutTypes);
    const wrong = ofApp.flatMap(source => [
      ...imports(source)
        .filter(target => !target.startsWith(app) && !target.startsWith(join('lib', sep)))
        .map(target => `${source.path} imports ${target}`),
      ...packages(source)
        .filter(name => !PAGE_PACKAGES.includes(name))
        .map(name => `${source.path} imports ${name}`),
    ]);
    assert.deepEqual(wrong, []);
    assert.ok(ofApp.filter(({ path }) => path.endsWith('.tsx')).length > 5, 'the components were found');
    assert.ok(new Set(ofApp.flatMap(packages)).size === PAGE_PACKAGES.length, 'the page uses each of its packages');
  });

  test('ARCH-7 only configuration and the registry name a mode', () => {
    const names = new RegExp(`['"\`](${modeFolders.join('|')})['"\`]|/modes/(${modeFolders.join('|')})/`);
    const wrong = product
      .filter(({ path }) => !MAY_NAME_MODES.some(place => path.startsWith(place)))
      .filter(({ path }) => !modeFolders.some(mode => path.startsWith(join('modes', mode, ''))))
      .filter(({ text }) => names.test(text))
      .map(({ path }) => path);
    assert.deepEqual(wrong, []);
  });

  test('ARCH-7 no mode imports another', () => {
    const modeOf = (path: string) => modeFolders.find(mode => path.startsWith(`${join('modes', mode)}${sep}`));
    const wrong = product.flatMap(source =>
      imports(source)
        .filter(target => modeOf(source.path) && modeOf(target) && modeOf(source.path) !== modeOf(target))
        .map(target => `${source.path} imports ${target}`),
    );
    assert.deepEqual(wrong, []);
  });

  test('ARCH-7 what modes share imports no mode', () => {
    const isShared = (path: string) => SHARED_BY_MODES.some(folder => path.startsWith(join('modes', folder, sep)));
    const shared = product.filter(({ path }) => isShared(path));
    const wrong = shared.flatMap(source =>
      imports(source)
        .filter(target => modeFolders.some(mode => target.startsWith(join('modes', mode, sep))))
        .map(target => `${source.path} imports ${target}`),
    );
    assert.deepEqual(wrong, []);
    assert.ok(shared.length > 5, 'the shared folders were found');
  });
});

/** The import rules as a Markdown table. */
function importTable(): string {
  const code = (folder: string) => `\`${folder}\``;
  const rows = Object.entries(IMPORT_RULES).map(
    ([folder, allowed]) => `| ${code(folder)} | ${allowed.map(code).join(', ') || '–'} |`,
  );
  return ['| folder | may import |', '| --- | --- |', ...rows, ''].join('\n');
}

/** The index.ts through which a file outside must go, or undefined if the file stands alone. */
function entrance(target: string): string | undefined {
  const parts = target.split(sep);
  const hasDoors =
    parts[0] === 'kernel' || (parts[0] === 'modes' && parts.length > 2) || folderOf(target).includes('/');
  const depth = hasDoors ? 2 : 1;
  return parts.length > depth ? join(...parts.slice(0, depth), 'index.ts') : undefined;
}
