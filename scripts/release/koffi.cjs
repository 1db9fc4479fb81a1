// Stands in for the package koffi in the program of a release. koffi's own code searches the folders of npm for its
// native part. A release knows where that is: beside the program, or inside the single executable.
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { dirname, join } = require('node:path');
const sea = require('node:sea');

const NAME = 'koffi.node';

if (sea.isSea()) loadFromExecutable();
else process.dlopen(module, join(__dirname, NAME));

/** The kernel loads libraries only from files, and not from a file system that is mounted with noexec. */
function loadFromExecutable() {
  const errors = [];
  for (const folder of new Set([tmpdir(), '/run', '/var/tmp', dirname(process.execPath)])) {
    let own;
    try {
      own = mkdtempSync(join(folder, 'pointsman-'));
      writeFileSync(join(own, NAME), new DataView(/** @type {ArrayBuffer} */ (sea.getRawAsset(NAME))), { mode: 0o700 });
      process.dlopen(module, join(own, NAME));
      return;
    } catch (error) {
      errors.push(`${folder}: ${error instanceof Error ? error.message : error}`);
    } finally {
      // A loaded library stays loaded without its file.
      if (own) rmSync(own, { recursive: true, force: true });
    }
  }
  throw new Error(
    `kube-proxy must write a library to a folder and load it, and no folder allows that. Set TMPDIR. ${errors.join('; ')}`,
  );
}
