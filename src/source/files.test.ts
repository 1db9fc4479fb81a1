import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type KubeObject, type Node, objectKey } from '../api/index.ts';
import { type Change, latestOf } from '../lib/change.ts';
import type { Problem } from '../lib/problem.ts';
import { FilesSource, type FilesSourceOptions } from './files.ts';
import type { SourceHandlers } from './source.ts';

/** Records the calls of a source as lines: `added Service default/web 10.0.0.1`. */
class Listener implements SourceHandlers {
  readonly events: string[] = [];
  readonly problems: Problem[] = [];
  readonly recoveries: string[] = [];
  readonly serviceChanged = (change: Change<KubeObject>) => this.note(change);
  readonly endpointSliceChanged = (change: Change<KubeObject>) => this.note(change);
  readonly nodeChanged = (change: Change<KubeObject>) => this.note(change);
  readonly serviceCidrChanged = (change: Change<KubeObject>) => this.note(change);

  note(change: Change<KubeObject>): void {
    const { kind, metadata } = latestOf(change);
    const from = change.type === 'updated' ? `${detail(change.from)} -> ` : '';
    this.events.push(`${change.type} ${kind} ${objectKey(metadata)} ${from}${detail(latestOf(change))}`.trimEnd());
  }

  synced(): void {
    this.events.push('synced');
  }

  problem(problem: Problem): void {
    this.problems.push(problem);
  }

  recovered(where: string): void {
    this.recoveries.push(where);
  }
}

function detail(object: KubeObject): string {
  if (object.kind === 'Service') return object.spec.clusterIP;
  return object.kind === 'Node' ? object.podCIDRs.join() : '';
}

function service(name: string, clusterIP = '10.0.0.1', more = ''): string {
  return `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}}\nspec: {clusterIP: ${clusterIP}, ports: [{port: 80}]${more}}\n`;
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'manifests-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface Setup {
  readonly folder: string;
  readonly listener: Listener;
  readonly source: FilesSource;
  /** Writes a file below the folder. */
  write(name: string, text: string): void;
  /** Waits for events. Returns those since the last call. */
  next(): Promise<string[]>;
  /** Waits for problems. Returns those since the last call. */
  nextProblems(): Promise<string[]>;
}

/** A folder with these files, and a source that has read it. */
async function setUp(
  t: TestContext,
  files: Record<string, string>,
  options: Partial<FilesSourceOptions> = {},
): Promise<Setup> {
  const folder = temporaryFolder(t);
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const { listener, source } = await start(t, { path: folder, ...options });
  const next = async () => {
    await until(() => listener.events.length > 0, 'an event');
    await quiet();
    return listener.events.splice(0);
  };
  const nextProblems = async () => {
    await until(() => listener.problems.length > 0, 'a problem');
    await quiet();
    return listener.problems.splice(0).map(problem => formatProblem(problem, folder));
  };
  return { folder, listener, source, write, next, nextProblems };
}

async function start(t: TestContext, options: Partial<FilesSourceOptions> & { path: string }) {
  const source = new FilesSource({ nodeName: 'node-a', debounceMs: 5, rescanMs: 60_000, ...options });
  t.after(() => source.close());
  const listener = new Listener();
  await source.start(listener);
  return { source, listener };
}

function formatProblem({ where, object, field, message }: Problem, folder: string): string {
  const line = [where, object, field, message].filter(part => part !== undefined).join(' | ');
  return line.replaceAll(`${folder}/`, '').replaceAll(folder, 'folder');
}

/** Changes are usually seen within 20 ms. A busy machine needs longer. */
const SOON_MS = 3000;

async function until(condition: () => boolean, what: string): Promise<void> {
  const end = performance.now() + SOON_MS;
  while (!condition()) {
    if (performance.now() > end) assert.fail(`${what} did not come within ${SOON_MS} ms`);
    await new Promise(resolve => setTimeout(resolve, 2));
  }
}

/** Long enough for further events to arrive, if there are any. */
function quiet(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, 40));
}

test('FILES-1 the handlers receive all objects, the Node first, and then one call of synced', async t => {
  const { listener } = await setUp(t, {
    'a.yaml': `${service('web')}---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: web-1}\naddressType: IPv4\n`,
    'b.json': JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [{ apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name: 'main' } }],
    }),
    'c.yml': 'apiVersion: v1\nkind: Node\nmetadata: {name: node-a}\nspec: {podCIDRs: [10.1.0.0/24]}\n',
  });
  await quiet();
  assert.deepEqual(listener.events, [
    'added Node /node-a 10.1.0.0/24',
    'added ServiceCIDR /main',
    'added Service default/web 10.0.0.1',
    'added EndpointSlice default/web-1',
    'synced',
  ]);
  assert.deepEqual(listener.problems, []);
});

test('FILES-2 the handlers receive only the objects that a watch would select', async t => {
  const { listener } = await setUp(t, {
    'a.yaml': [
      service('headless', 'None'),
      service('other').replace(
        '{name: other}',
        '{name: other, labels: {service.kubernetes.io/service-proxy-name: ""}}',
      ),
      'apiVersion: v1\nkind: Node\nmetadata: {name: node-b}\n',
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n',
      service('web'),
    ].join('---\n'),
  });
  assert.deepEqual(listener.events, ['added Service default/web 10.0.0.1', 'synced']);
  assert.deepEqual(listener.problems, []);
});

test('FILES-1 folders below the folder are read; hidden files and files with other names are not', async t => {
  const { listener } = await setUp(t, {
    'team/shop/web.yaml': service('web'),
    '.hidden.yaml': service('hidden'),
    '.git/config.yaml': service('git'),
    'web.yaml~': service('backup'),
    'README.md': 'about',
    'notes.txt': 'a: [',
  });
  assert.deepEqual(listener.events, ['added Service default/web 10.0.0.1', 'synced']);
  assert.deepEqual(listener.problems, []);
});

test('FILES-1 an empty folder causes a call of synced', async t => {
  const { listener } = await setUp(t, {});
  assert.deepEqual(listener.events, ['synced']);
});

test('FILES-1 start rejects with a clear message if the folder is missing', async t => {
  const path = join(temporaryFolder(t), 'missing');
  const source = new FilesSource({ path, nodeName: 'node-a' });
  await assert.rejects(source.start(new Listener()), {
    message: `cannot read manifests from ${path}: there is no such file or folder`,
  });
  await source.close();
});

test('FILES-1 a source refuses to be started twice', async t => {
  const { source } = await setUp(t, {});
  await assert.rejects(source.start(new Listener()), /started before/);
});

test('FILES-5 the path may be one file, and the replacement of the file is seen', async t => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'objects.txt');
  writeFileSync(path, service('web'));
  writeFileSync(join(folder, 'other.yaml'), service('other'));
  const { listener } = await start(t, { path });
  assert.deepEqual(listener.events.splice(0), ['added Service default/web 10.0.0.1', 'synced']);
  await quiet();
  writeFileSync(join(folder, 'new'), service('web', '10.0.0.2'));
  renameSync(join(folder, 'new'), path);
  await until(() => listener.events.length > 0, 'the update');
  assert.deepEqual(listener.events, ['updated Service default/web 10.0.0.1 -> 10.0.0.2']);
});

test('FILES-5 new, changed and deleted files are seen, and unchanged objects cause no event', async t => {
  const { folder, write, next } = await setUp(t, { 'a.yaml': `${service('web')}---\n${service('api')}` });
  await next();
  write('b.yaml', service('new'));
  assert.deepEqual(await next(), ['added Service default/new 10.0.0.1']);
  write('a.yaml', `# moved\n${service('api')}---\n${service('web', '10.0.0.2')}`);
  assert.deepEqual(await next(), ['updated Service default/web 10.0.0.1 -> 10.0.0.2']);
  write('a.yaml', service('web', '10.0.0.2'));
  assert.deepEqual(await next(), ['removed Service default/api 10.0.0.1']);
  rmSync(join(folder, 'a.yaml'));
  assert.deepEqual(await next(), ['removed Service default/web 10.0.0.2']);
});

test('FILES-5 a change that keeps the length of a file is seen', async t => {
  const { write, next } = await setUp(t, { 'a.yaml': service('web', '10.0.0.1') });
  await next();
  for (const address of ['10.0.0.2', '10.0.0.3', '10.0.0.4']) {
    write('a.yaml', service('web', address));
    assert.match((await next()).at(-1) ?? '', new RegExp(`${address}$`));
  }
});

test('FILES-5 an atomic replacement by rename is one update', async t => {
  const { folder, write, next } = await setUp(t, { 'a.yaml': service('web') });
  await next();
  write('.a.yaml.tmp', service('web', '10.0.0.2'));
  renameSync(join(folder, '.a.yaml.tmp'), join(folder, 'a.yaml'));
  assert.deepEqual(await next(), ['updated Service default/web 10.0.0.1 -> 10.0.0.2']);
});

test('FILES-5 an object that moves to another file causes no event', async t => {
  const { folder, listener, next } = await setUp(t, { 'a.yaml': service('web') });
  await next();
  renameSync(join(folder, 'a.yaml'), join(folder, 'z.yaml'));
  await quiet();
  assert.deepEqual(listener.events, []);
  assert.deepEqual(listener.problems, []);
});

test('FILES-5 the files of a new folder are seen, and a deleted folder removes its objects', async t => {
  const { folder, write, next } = await setUp(t, {});
  await next();
  write('team/web.yaml', service('web'));
  assert.deepEqual(await next(), ['added Service default/web 10.0.0.1']);
  write('team/web.yaml', service('web', '10.0.0.2'));
  assert.deepEqual(await next(), ['updated Service default/web 10.0.0.1 -> 10.0.0.2']);
  rmSync(join(folder, 'team'), { recursive: true });
  assert.deepEqual(await next(), ['removed Service default/web 10.0.0.2']);
});

/**
 * Writes files as a mounted ConfigMap has them, or replaces them by a new version. As the kubelet does, it leaves links
 * alone that exist already: a scan could miss a link that is made anew.
 */
function mountConfigMap(folder: string, version: string, files: Record<string, string>): void {
  const stamped = `..2026_${version}`;
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, stamped, name)), { recursive: true });
    writeFileSync(join(folder, stamped, name), text);
  }
  symlinkSync(stamped, join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  for (const name of Object.keys(files)) {
    const [top = name] = name.split('/');
    if (!readdirSync(folder).includes(top)) symlinkSync(join('..data', top), join(folder, top));
  }
}

test('FILES-1 a mounted ConfigMap is read once, and a new version of it causes updates', async t => {
  const folder = temporaryFolder(t);
  mountConfigMap(folder, '1', { 'web.yaml': service('web'), 'team/api.yaml': service('api') });
  const { listener } = await start(t, { path: folder });
  assert.deepEqual(listener.events.splice(0), [
    'added Service default/api 10.0.0.1',
    'added Service default/web 10.0.0.1',
    'synced',
  ]);
  for (const version of ['2', '3']) {
    await quiet();
    const address = `10.0.0.${version}`;
    mountConfigMap(folder, version, { 'web.yaml': service('web', address), 'team/api.yaml': service('api', address) });
    rmSync(join(folder, `..2026_${Number(version) - 1}`), { recursive: true });
    await until(() => listener.events.length >= 2, 'the swap');
    const old = `10.0.0.${Number(version) - 1}`;
    assert.deepEqual(listener.events.splice(0), [
      `updated Service default/api ${old} -> ${address}`,
      `updated Service default/web ${old} -> ${address}`,
    ]);
  }
  assert.deepEqual(listener.problems, []);
});

test('FILES-5 the path may be one file of a mounted ConfigMap, and a new version of it is seen', async t => {
  const folder = temporaryFolder(t);
  mountConfigMap(folder, '1', { 'web.yaml': service('web') });
  const { listener } = await start(t, { path: join(folder, 'web.yaml') });
  await quiet();
  listener.events.length = 0;
  mkdirSync(join(folder, '..2026_2'));
  writeFileSync(join(folder, '..2026_2', 'web.yaml'), service('web', '10.0.0.2'));
  symlinkSync('..2026_2', join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  await until(() => listener.events.length > 0, 'the swap');
  assert.deepEqual(listener.events, ['updated Service default/web 10.0.0.1 -> 10.0.0.2']);
});

test('FILES-1 a file and a link to it are one file', async t => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'web.yaml'), service('web'));
  symlinkSync('web.yaml', join(folder, 'a.yaml'));
  const { listener } = await start(t, { path: folder });
  assert.deepEqual(listener.events, ['added Service default/web 10.0.0.1', 'synced']);
  assert.deepEqual(listener.problems, []);
});

test('FILES-3 a file that is not YAML keeps its last good objects, is reported once a change, and recovers', async t => {
  const { folder, listener, write, next, nextProblems } = await setUp(t, {
    'a.yaml': service('web'),
    'b.yaml': service('api'),
  });
  await next();
  write('a.yaml', 'apiVersion: v1\nkind: [Service\n');
  const [problem = '', ...others] = await nextProblems();
  assert.match(problem, /^a\.yaml:3:1 \| .* \(what was read from it before stays in use\)$/);
  assert.deepEqual(others, []);
  write('b.yaml', service('api', '10.0.0.2'));
  assert.deepEqual(await next(), ['updated Service default/api 10.0.0.1 -> 10.0.0.2']);
  assert.deepEqual(listener.problems, []);
  appendFileSync(join(folder, 'a.yaml'), '# still\n');
  assert.equal((await nextProblems()).length, 1);
  assert.deepEqual(listener.recoveries, []);
  write('a.yaml', service('web', '10.0.0.3'));
  assert.deepEqual(await next(), ['updated Service default/web 10.0.0.1 -> 10.0.0.3']);
  assert.deepEqual(listener.recoveries, [join(folder, 'a.yaml')]);
});

test('FILES-3 an object with a problem keeps its last good version; other objects of the file are updated', async t => {
  const { write, next, nextProblems } = await setUp(t, {
    'a.yaml': `${service('web')}---\n${service('api')}---\n${service('old')}`,
  });
  await next();
  const bad = service('web', '10.0.0.9').replace('port: 80', 'port: 80000');
  write('a.yaml', `${bad}---\n${service('api', '10.0.0.2')}`);
  assert.deepEqual(await next(), [
    'updated Service default/api 10.0.0.1 -> 10.0.0.2',
    'removed Service default/old 10.0.0.1',
  ]);
  assert.deepEqual(await nextProblems(), [
    'a.yaml:4:44 | Service default/web | spec.ports[0].port | is the number 80000, but must be a whole number from 1 to 65535: correct it (its last good version stays in use)',
  ]);
  write('a.yaml', service('api', '10.0.0.2'));
  assert.deepEqual(await next(), ['removed Service default/web 10.0.0.1']);
});

test('FILES-3 if a problem names no object, no object of the file is removed', async t => {
  const { write, next, nextProblems } = await setUp(t, { 'a.yaml': `${service('web')}---\n${service('api')}` });
  await next();
  write('a.yaml', `${service('web').replace('name: web', 'nam: web')}---\n${service('api', '10.0.0.2')}`);
  assert.deepEqual(await next(), ['updated Service default/api 10.0.0.1 -> 10.0.0.2']);
  assert.deepEqual(await nextProblems(), [
    'a.yaml:3:11 | metadata.name | is missing: give the object a name (what was read from it before stays in use)',
  ]);
});

test('FILES-3 a file that is broken at the start does not prevent the call of synced', async t => {
  const { listener, nextProblems } = await setUp(t, { 'a.yaml': 'a: [', 'b.yaml': service('web') });
  assert.deepEqual(listener.events, ['added Service default/web 10.0.0.1', 'synced']);
  assert.match((await nextProblems()).join(), /^a\.yaml:1:5 \| .*\(nothing of it is used\)$/);
});

test('FILES-3 at most 20 problems of a file are reported, and the number of the others', async t => {
  const { nextProblems } = await setUp(t, { 'a.yaml': 'apiVersion: v1\nkind: Service\n---\n'.repeat(50) });
  const problems = await nextProblems();
  assert.equal(problems.length, 21);
  assert.equal(problems.at(-1), 'a.yaml | has 30 more problems like these');
});

test('FILES-4 the same object in two files is reported with both places, and the first file by path is used', async t => {
  const { folder, listener, write, next, nextProblems } = await setUp(t, {
    'b.yaml': service('web', '10.0.0.2'),
    'c.yaml': service('web', '10.0.0.3'),
  });
  assert.deepEqual(await next(), ['added Service default/web 10.0.0.2', 'synced']);
  assert.deepEqual(await nextProblems(), [
    'c.yaml:1:1 | Service default/web | is also at b.yaml:1:1, which is used: remove one',
  ]);
  write('c.yaml', service('web', '10.0.0.33'));
  await quiet();
  assert.deepEqual(listener.events, []);
  assert.deepEqual(listener.problems, []);
  write('a.yaml', service('web', '10.0.0.1'));
  assert.deepEqual(await next(), ['updated Service default/web 10.0.0.2 -> 10.0.0.1']);
  assert.equal((await nextProblems()).length, 2);
  rmSync(join(folder, 'a.yaml'));
  rmSync(join(folder, 'b.yaml'));
  assert.deepEqual((await next()).at(-1), 'updated Service default/web 10.0.0.1 -> 10.0.0.33');
  rmSync(join(folder, 'c.yaml'));
  assert.deepEqual(await next(), ['removed Service default/web 10.0.0.33']);
});

test('FILES-4 a duplicate is over when its file no longer has the object, or no other file has it', async t => {
  const { folder, listener, write, next, nextProblems } = await setUp(t, {
    'a.yaml': `${service('web')}---\n${service('api')}`,
    'b.yaml': service('web'),
    'c.yaml': service('api'),
    'd.yaml': `${service('api')}---\napiVersion: v1\nkind: Service\n`,
  });
  assert.equal((await nextProblems()).length, 4);
  await next();
  write('b.yaml', service('other'));
  assert.deepEqual(await next(), ['added Service default/other 10.0.0.1']);
  assert.deepEqual(listener.recoveries.splice(0), [join(folder, 'b.yaml')]);
  rmSync(join(folder, 'a.yaml'));
  await until(() => listener.recoveries.length > 0, 'a recovery');
  await quiet();
  assert.deepEqual(listener.recoveries, [join(folder, 'c.yaml')], 'd.yaml has another problem');
});

test('FILES-7 an error of a handler is reported and stops nothing', async t => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'a.yaml'), `${service('web')}---\n${service('api')}`);
  const source = new FilesSource({ path: folder, nodeName: 'node-a', debounceMs: 5 });
  t.after(() => source.close());
  const listener = new Listener();
  let calls = 0;
  const refusing = (change: Change<KubeObject>) => {
    if (++calls === 1) throw new Error('no room');
    listener.note(change);
  };
  await source.start({
    ...listener,
    serviceChanged: refusing,
    synced: () => {
      listener.synced();
      throw new Error('synced failed');
    },
    problem: problem => {
      listener.problem(problem);
      throw new Error('worse');
    },
  });
  assert.deepEqual(listener.events, ['added Service default/api 10.0.0.1', 'synced']);
  assert.deepEqual(
    listener.problems.map(problem => formatProblem(problem, folder)),
    [
      'a.yaml:1:1 | Service default/web | could not be processed: no room',
      'the first scan | could not be processed: synced failed',
    ],
  );
});

test('FILES-7 a pipe, socket, folder, binary or broken link is a problem, and neither an exception nor a hang', async t => {
  const folder = temporaryFolder(t);
  const at = (name: string) => join(folder, name);
  mkdirSync(at('folder.yaml'));
  writeFileSync(at('binary.yaml'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]));
  writeFileSync(at('latin1.yaml'), Buffer.from('name: caf\xe9\n', 'latin1'));
  writeFileSync(at('large.json'), '');
  truncateSync(at('large.json'), 100 << 20);
  symlinkSync('nowhere', at('dangling.yaml'));
  symlinkSync('loop.yaml', at('loop.yaml'));
  execFileSync('mkfifo', [at('pipe.yaml')]);
  const server = createServer().listen(at('socket.yaml'));
  t.after(() => new Promise(resolve => server.close(resolve)));
  await new Promise(resolve => server.once('listening', resolve));
  writeFileSync(at('web.yaml'), service('web'));
  const { listener } = await start(t, { path: folder });
  assert.deepEqual(listener.events, ['added Service default/web 10.0.0.1', 'synced']);
  await quiet();
  const unused = '(nothing of it is used)';
  assert.deepEqual(
    listener.problems.map(problem => formatProblem(problem, folder)),
    [
      `binary.yaml | is binary (it has a NUL byte): write it as UTF-8 text ${unused}`,
      `dangling.yaml | is a broken link: repair or delete it ${unused}`,
      `folder.yaml | is a folder with the name of a manifest: rename it ${unused}`,
      `large.json | is 100 MiB long, but the limit is 64 MiB: split it ${unused}`,
      `latin1.yaml | is not UTF-8 text: write it as UTF-8 ${unused}`,
      `loop.yaml | cannot be read (ELOOP) ${unused}`,
      `pipe.yaml | is not a regular file, but a pipe, socket or device: replace it with a file ${unused}`,
      `socket.yaml | is not a regular file, but a pipe, socket or device: replace it with a file ${unused}`,
    ],
  );
});

test('FILES-3 a file that can no longer be read keeps its objects and recovers', async t => {
  const { folder, listener, write, next, nextProblems } = await setUp(t, { 'a.yaml': service('web') });
  await next();
  symlinkSync('nowhere', join(folder, '.new'));
  renameSync(join(folder, '.new'), join(folder, 'a.yaml'));
  assert.deepEqual(await nextProblems(), [
    'a.yaml | is a broken link: repair or delete it (what was read from it before stays in use)',
  ]);
  assert.deepEqual(listener.events, []);
  write('.new', service('web', '10.0.0.2'));
  renameSync(join(folder, '.new'), join(folder, 'a.yaml'));
  assert.deepEqual(await next(), ['updated Service default/web 10.0.0.1 -> 10.0.0.2']);
  assert.deepEqual(listener.recoveries, [join(folder, 'a.yaml')]);
});

test('FILES-3 a file that the proxy may not read keeps its objects and recovers', async t => {
  const { folder, listener, next, nextProblems } = await setUp(t, { 'a.yaml': service('web') });
  await next();
  chmodSync(folder, 0o755);
  await asNobody(async () => {
    chmodAsRoot(join(folder, 'a.yaml'), 0o000);
    assert.deepEqual(await nextProblems(), [
      'a.yaml | cannot be read (EACCES): allow reading it (what was read from it before stays in use)',
    ]);
    chmodAsRoot(join(folder, 'a.yaml'), 0o644);
    await until(() => listener.recoveries.length > 0, 'the recovery');
  });
  assert.deepEqual(listener.events, []);
});

/** Root may read every file, so that permissions have no effect. */
async function asNobody(work: () => Promise<void>): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65534);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

function chmodAsRoot(path: string, mode: number): void {
  const effective = process.geteuid?.() ?? 0;
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(0);
  try {
    chmodSync(path, mode);
  } finally {
    if (isRoot) process.seteuid?.(effective);
  }
}

test('FILES-1 a link out of the folder is not followed, and reported', async t => {
  const outside = temporaryFolder(t);
  writeFileSync(join(outside, 'web.yaml'), service('web'));
  const folder = temporaryFolder(t);
  symlinkSync(outside, join(folder, 'out'));
  symlinkSync('.', join(folder, 'self'));
  const { listener } = await start(t, { path: folder });
  assert.deepEqual(listener.events, ['synced']);
  assert.deepEqual(
    listener.problems.map(problem => formatProblem(problem, folder)),
    ['out | is a link out of the folder, which is not followed: use the target itself'],
  );
});

test('FILES-5 the periodic rescan finds changes that the kernel does not report', async t => {
  const outside = temporaryFolder(t);
  writeFileSync(join(outside, 'web.yaml'), service('web'));
  const folder = temporaryFolder(t);
  symlinkSync(join(outside, 'web.yaml'), join(folder, 'web.yaml'));
  const { listener } = await start(t, { path: folder, rescanMs: 30 });
  assert.deepEqual(listener.events.splice(0), ['added Service default/web 10.0.0.1', 'synced']);
  await quiet();
  writeFileSync(join(outside, 'web.yaml'), service('web', '10.0.0.2'));
  await until(() => listener.events.length > 0, 'the rescan');
  assert.deepEqual(listener.events, ['updated Service default/web 10.0.0.1 -> 10.0.0.2']);
});

test('FILES-3 the objects of a folder that vanishes stay until the folder is back', async t => {
  const { folder, listener, next, nextProblems } = await setUp(t, { 'a.yaml': service('web') });
  await next();
  renameSync(folder, `${folder}.away`);
  t.after(() => rmSync(`${folder}.away`, { recursive: true, force: true }));
  assert.deepEqual(await nextProblems(), [
    'folder | there is no such file or folder (what was read before stays in use)',
  ]);
  assert.deepEqual(listener.events, []);
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.yaml'), service('web', '10.0.0.2'));
  const events = await next();
  assert.match(events.at(-1) ?? '', /10\.0\.0\.2$/);
  assert.deepEqual(listener.recoveries, [folder]);
});

function node(podCIDR: string): Node {
  return {
    kind: 'Node',
    metadata: { name: 'node-a', namespace: '', labels: {}, annotations: {} },
    podCIDRs: [podCIDR],
    addresses: [],
  };
}

test('FILES-6 without a manifest of it, the own Node is made from this machine', async t => {
  const { folder, listener, write, next } = await setUp(t, {}, { localNode: () => node('10.9.0.0/24') });
  assert.deepEqual(await next(), ['added Node /node-a 10.9.0.0/24', 'synced']);
  write('node.yaml', 'apiVersion: v1\nkind: Node\nmetadata: {name: node-a}\nspec: {podCIDR: 10.1.0.0/24}\n');
  assert.deepEqual(await next(), ['updated Node /node-a 10.9.0.0/24 -> 10.1.0.0/24']);
  rmSync(join(folder, 'node.yaml'));
  assert.deepEqual(await next(), ['updated Node /node-a 10.1.0.0/24 -> 10.9.0.0/24']);
  assert.deepEqual(listener.problems, []);
});

test('FILES-6 an own Node that cannot be made is reported once', async t => {
  const { write, next, nextProblems } = await setUp(
    t,
    {},
    {
      localNode: () => {
        throw new Error('no addresses');
      },
    },
  );
  assert.deepEqual(await nextProblems(), [
    "(this machine) | Node node-a | cannot be made from this machine's addresses: no addresses",
  ]);
  await next();
  write('a.yaml', service('web'));
  assert.deepEqual(await next(), ['added Service default/web 10.0.0.1']);
});

test('FILES-2 an object that is no longer selected is removed', async t => {
  const { write, next } = await setUp(t, { 'a.yaml': service('web') });
  await next();
  write('a.yaml', service('web', 'None'));
  assert.deepEqual(await next(), ['removed Service default/web 10.0.0.1']);
});

test('FILES-5 after many quick writes the last version is used', async t => {
  const { write, next, listener } = await setUp(t, { 'a.yaml': service('web') });
  await next();
  for (let i = 1; i <= 50; i++) {
    write('a.yaml', service('web', `10.0.1.${i}`));
    if (i % 10 === 0) await new Promise(resolve => setTimeout(resolve, 1));
  }
  await until(() => listener.events.at(-1)?.endsWith('10.0.1.50') === true, 'the last version');
  assert.ok(listener.events.length < 25);
});

test('FILES-7 after close no handler is called, and a second close does nothing', async t => {
  const { source, write, listener, next } = await setUp(t, { 'a.yaml': service('web') });
  await next();
  write('b.yaml', service('api'));
  await source.close();
  await source.close();
  write('c.yaml', service('late'));
  await quiet();
  assert.deepEqual(listener.events, []);
});

test('FILES-7 close during the first scan ends it without a call of synced', async t => {
  const folder = temporaryFolder(t);
  for (let i = 0; i < 20; i++) writeFileSync(join(folder, `${i}.yaml`), service(`s${i}`));
  const source = new FilesSource({ path: folder, nodeName: 'node-a' });
  const listener = new Listener();
  const started = source.start(listener);
  await source.close();
  await started;
  assert.deepEqual(listener.events, []);
});

test('FILES-20 an object with an unknown field is used, and the problem ends when the field is gone', async t => {
  const { listener, write, next, nextProblems } = await setUp(t, {
    'a.yaml': service('web', '10.0.0.1', ', selektor: {}'),
  });
  assert.deepEqual(await next(), ['added Service default/web 10.0.0.1', 'synced']);
  assert.deepEqual(await nextProblems(), [
    'a.yaml:4:50 | Service default/web | spec.selektor | is no field of a Service in Kubernetes v1.37: did you mean selector?',
  ]);
  write('a.yaml', service('web', '10.0.0.2', ', selektor: {}'));
  assert.deepEqual(await next(), ['updated Service default/web 10.0.0.1 -> 10.0.0.2']);
  assert.equal((await nextProblems()).length, 1);
  assert.deepEqual(listener.recoveries, []);
  write('a.yaml', service('web', '10.0.0.2', ', selector: {a: b}'));
  await until(() => listener.recoveries.length > 0, 'the recovery');
});
