// SPDX-License-Identifier: MIT
// Runs in an image of Node when it is built, and prints what the label codebox.contents has: Node, and the packages in the folders that programs load from.
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
add('/usr/local/lib/node_modules'); // what programs find; of a name twice the first counts
add('/usr/lib/node_modules');
packages.sort((a, b) => (a.name < b.name ? -1 : 1));
console.log(JSON.stringify({ version: 1, runtime: { name: 'Node.js', version: process.versions.node }, packages }));
