import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

// The scripts find the checkout by their own path, so they must not be part of a bundle.
const fromScripts = (name: string) => import(pathToFileURL(`scripts/${name}`).href);

const MAX_BYTES = 150_000;
/** Names of XML languages. No browser loads them. */
const NAMESPACES = ['http://www.w3.org/2000/svg', 'http://www.w3.org/1999/xhtml', 'http://www.w3.org/1998/Math/MathML'];

describe('the bundle of the page', () => {
  type Page = Awaited<ReturnType<typeof import('../scripts/page-assets.mjs')['buildPage']>>;
  let page: Page;
  before(async () => {
    const { buildPage }: typeof import('../scripts/page-assets.mjs') = await fromScripts('page-assets.mjs');
    page = await buildPage();
  });

  test('PAGE-13 all files together have less than 150 kB, compressed with gzip or brotli', () => {
    const sum = (compress: (content: Buffer) => Buffer) =>
      page.files.reduce((bytes, { content }) => bytes + compress(content).length, 0);
    const sizes = { gzip: sum(content => gzipSync(content)), brotli: sum(content => brotliCompressSync(content)) };
    assert.ok(sizes.gzip < MAX_BYTES && sizes.brotli < MAX_BYTES, JSON.stringify(sizes));
  });

  test('PAGE-13 no file loads something from elsewhere', () => {
    for (const { path, content } of page.files) {
      const text = NAMESPACES.reduce((rest, name) => rest.replaceAll(name, ''), content.toString('utf8'));
      assert.doesNotMatch(text, /(?:https?|wss?):\/\/[a-z0-9[]/i, path);
      assert.doesNotMatch(text, /@import|url\(\s*["']?(?!data:|#)/, path);
      assert.doesNotMatch(text, /(?:src|href)\s*=\s*["']?\/\//, path);
    }
  });

  test('PAGE-9 no file needs what the policy forbids', () => {
    const html = page.files.find(({ path }) => path === '/')?.content.toString('utf8') ?? '';
    assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=/i);
    const script = page.files.find(({ path }) => path === '/app.js')?.content.toString('utf8') ?? '';
    assert.doesNotMatch(script, /\beval\(|new Function|document\.write|insertAdjacentHTML/);
  });

  test('PAGE-13 REL-8 the lists of a release name all packages that the page contains', async () => {
    const { packagesOf }: typeof import('../scripts/release/program.mjs') = await fromScripts('release/program.mjs');
    const { licenseTexts }: typeof import('../scripts/release/licenses.mjs') =
      await fromScripts('release/licenses.mjs');
    const packages = packagesOf(page.inputs);
    const names = packages.map(({ name }) => name);
    for (const name of ['@preact/signals', '@preact/signals-core', 'preact', 'uplot']) assert.ok(names.includes(name));
    for (const { name, version, license } of packages) {
      assert.equal(license, 'MIT', name);
      assert.equal(version, JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')).version);
    }
    assert.match(licenseTexts(packages), /preact \d[\s\S]*Permission is hereby granted/);
  });
});
