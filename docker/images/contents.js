// SPDX-License-Identifier: MIT
// Runs in an image of Node when it is built, and prints what the label codebox.contents has: Node, and the packages in /usr/lib/node_modules.
'use strict';
const { existsSync, readdirSync, readFileSync } = require('fs');
const { join } = require('path');

const root = '/usr/lib/node_modules';
const packages = [];
function add(folder) {
  for (const entry of existsSync(folder) ? readdirSync(folder) : []) {
    if (entry[0] === '@') {
      add(join(folder, entry));
    } else if (entry[0] !== '.') {
      const { name, version } = JSON.parse(readFileSync(join(folder, entry, 'package.json'), 'utf8'));
      packages.push({ name, version, modules: [name] });
    }
  }
}
add(root);
packages.sort((a, b) => (a.name < b.name ? -1 : 1));
console.log(JSON.stringify({ version: 1, runtime: { name: 'Node.js', version: process.versions.node }, packages }));
