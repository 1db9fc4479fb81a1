// Takes the pictures of the documents: see scripts/screenshots.mjs.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launchChromium } from './chromium.ts';
import { PICTURES, PICTURES_FOLDER, takePicture } from './pictures.ts';
import { ServedPage } from './served-page.ts';

mkdirSync(PICTURES_FOLDER, { recursive: true });
const served = await ServedPage.start();
try {
  const browser = await launchChromium();
  try {
    for (const picture of PICTURES) {
      const { png, text } = await takePicture(browser, served.url, picture);
      writeFileSync(join(PICTURES_FOLDER, `${picture.name}.png`), png);
      writeFileSync(join(PICTURES_FOLDER, `${picture.name}.txt`), text);
      console.log(`${PICTURES_FOLDER}/${picture.name}.png: ${Math.ceil(png.length / 1000)} kB`);
    }
  } finally {
    await browser.close();
  }
} finally {
  await served.close();
}
