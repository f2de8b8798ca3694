// SPDX-License-Identifier: MIT
// Runs during the build of an image with Node. Prints the label codebox.contents: Node, and the
// packages in the folders from which programs load modules.
'use strict';
const { existsSync, readdirSync, readFileSync } = require('fs');
const { join } = require('path');

const packages = [];
const seen = new Set();
function add(folder) {
  for (const entry of existsSync(folder) ? readdirSync(folder) : []) {
    if (entry[0] === '@') {
      add(join(folder, entry));
    } else if (entry[0] !== '.') {
      const file = join(folder, entry, 'package.json');
      const { name, version } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
      if (name && !seen.has(name)) {
        seen.add(name);
        packages.push({ name, version: version ?? '0', modules: [name] });
      }
    }
  }
}
add('/usr/local/lib/node_modules'); // before /usr/lib: programs load the first package of a name
add('/usr/lib/node_modules');
packages.sort((a, b) => (a.name < b.name ? -1 : 1));
console.log(JSON.stringify({ version: 1, runtime: { name: 'Node.js', version: process.versions.node }, packages }));
