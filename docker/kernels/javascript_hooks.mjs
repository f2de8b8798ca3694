// SPDX-License-Identifier: MIT
// Runs in the thread of Node's loader hooks: a module outside of the image is loaded when the SHA-256 of the bytes that were read is
// one that javascript_loaders.js shares. CommonJS is compiled in the program's thread, and what is compiled is checked there.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = '/usr/', WORKSPACE = '/workspace/', HASH_BYTES = 32;
const accepted = new Set();
let shared, known = 0;

export function initialize(data) {
  shared = data;
}

function isAccepted(bytes) {
  for (const count = Atomics.load(shared.count, 0); known < count; known++) {
    accepted.add(Buffer.from(shared.hashes.slice(known * HASH_BYTES, (known + 1) * HASH_BYTES)).toString('hex'));
  }
  return bytes.length === 0 || accepted.has(createHash('sha256').update(bytes).digest('hex'));
}

// Node keeps a module that failed, and all that import it, for good. So the URL of a refused one, and theirs, gets another query: it
// is read again after it was judged.
const importers = new Map(), refusals = new Map();
const plain = (url) => url.replace(/[?&]judged=\d+$/, '');

function noteRefusal(url) {
  const queue = [plain(url)], seen = new Set(queue);
  for (const each of queue) {
    refusals.set(each, (refusals.get(each) ?? 0) + 1);
    for (const importer of importers.get(each) ?? []) if (!seen.has(importer)) queue.push(importer), seen.add(importer);
  }
}

export async function resolve(name, context, next) {
  const found = await next(name, context);
  if (!found.url.startsWith('file:') || found.url.startsWith(`file://${FOLDER}`)) return found;
  if (!importers.has(found.url)) importers.set(found.url, new Set());
  if (context.parentURL?.startsWith('file:')) importers.get(found.url).add(plain(context.parentURL));
  const count = refusals.get(found.url);
  return count === undefined ? found : { ...found, url: `${found.url}${found.url.includes('?') ? '&' : '?'}judged=${count}` };
}

export async function load(url, context, next) {
  if (!url.startsWith('file:')) return next(url, context);
  const path = fileURLToPath(url);
  const loaded = await next(url, context);
  if (path.startsWith(FOLDER) || loaded.format === 'json') return loaded;
  const source = loaded.format === 'commonjs' ? readFileSync(path) : Buffer.from(loaded.source ?? ' ');
  if ((loaded.format === 'module' || loaded.format === 'commonjs') && isAccepted(source)) {
    return loaded.format === 'module' ? { format: 'module', source } : loaded;
  }
  noteRefusal(url);
  const shown = path.startsWith(WORKSPACE) ? path.slice(WORKSPACE.length) : path;
  throw new Error(`${shown} was not judged, so it is not loaded as code: upload it. JSON and other data can be read with fs`);
}
