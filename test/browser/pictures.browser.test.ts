import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { theBrowser } from './browser.ts';
import { PICTURE_SIZE, PICTURES, PICTURES_FOLDER, takePicture } from './pictures.ts';
import { ServedPage } from './served-page.ts';

const MAX_BYTES = 150_000;

describe('the pictures of the documents', () => {
  let served: ServedPage;
  before(async () => {
    served = await ServedPage.start();
  });
  after(() => served?.close());

  for (const picture of PICTURES) {
    test(`PAGE-109 the picture ${picture.name} shows what the page shows today (if not: npm run screenshots)`, async () => {
      const { png, text } = await takePicture(await theBrowser(), served.url, picture);
      assert.deepEqual(sizeOf(png), PICTURE_SIZE);
      assert.equal(text, readFileSync(join(PICTURES_FOLDER, `${picture.name}.txt`), 'utf8'));
      const recorded = readFileSync(join(PICTURES_FOLDER, `${picture.name}.png`));
      assert.deepEqual(sizeOf(recorded), PICTURE_SIZE);
      assert.ok(recorded.length < MAX_BYTES, `the picture has ${recorded.length} bytes`);
    });
  }

  test('PAGE-109 every picture is one that the script takes, and a document shows it', () => {
    const files = PICTURES.flatMap(({ name }) => [`${name}.png`, `${name}.txt`]).sort();
    assert.deepEqual(readdirSync(PICTURES_FOLDER).sort(), files);
    const documents = ['README.md', 'docs/guide/open-the-page.md'].map(path => readFileSync(path, 'utf8')).join('\n');
    for (const { name } of PICTURES) assert.ok(documents.includes(`pictures/${name}.png`), name);
  });
});

/** The width and height in the head of a PNG file. */
function sizeOf(png: Buffer): typeof PICTURE_SIZE {
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
}
