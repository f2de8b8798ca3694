// SPDX-License-Identifier: MIT
// Limits the files that Node loads as code to files of the image, and files whose SHA-256 the host
// accepted. All other files are data.
//
// CommonJS: `Module.prototype._compile` compiles every module, whatever its ending. ES modules: the
// hook `load` loads every module for `import`, `require` and scripts of `vm`. Both compile the text
// that they hashed: no file is read between the check and the compilation. A cell that is a module
// is rewritten (javascript_cells.js).
//
// A program may replace every global and every method of every prototype. So the check uses
// references that were taken before a program ran, operators, elements of typed arrays, and
// functions of Node's bindings. Its option objects have no prototype.
'use strict';
const { Module, builtinModules, createRequire } = require('module');
const { Duplex, Writable } = require('stream');
const { fileURLToPath, pathToFileURL } = require('url');
const vm = require('vm');
const { MessagePort, Worker } = require('worker_threads');

const { compileFunction } = vm;
const { registerHooks } = Module;
const compileOfNode = Function.prototype.call.bind(Module.prototype._compile);
const { open, read, close } = process.binding('fs');
const { Int32Array, Map, Set, Uint8Array } = globalThis;
const { fromCharCode } = String;
const { defineProperty, getOwnPropertyDescriptor, getOwnPropertySymbols, getPrototypeOf, keys } = Object;
const { apply, ownKeys } = Reflect;
const charCode = Function.prototype.call.bind(String.prototype.charCodeAt);
const nameOf = Function.prototype.call.bind(Symbol.prototype.toString);
const dlopen = process.dlopen;

const HASH_BYTES = 32, ACCEPTED_MAX = 65536; // see frame.h
const FOLDER = '/usr/'; // of the image: no program can write it, and no link in it leads to a writable folder
const WORKSPACE = '/workspace/';

function startsWith(text, start) {
  for (let i = 0; i < start.length; i++) if (text[i] !== start[i]) return false;
  return true;
}

function isOfImage(path) {
  if (!startsWith(path, FOLDER)) return false;
  for (let i = 0; i + 2 < path.length; i++) if (path[i] === '/' && path[i + 1] === '.' && path[i + 2] === '.') return false;
  return true;
}

// --- bytes ------------------------------------------------------------------------------------------------------

function utf8(text) {
  const bytes = new Uint8Array(3 * text.length);
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    let code = charCode(text, i);
    if (code >= 0xd800 && code < 0xdc00 && i + 1 < text.length) {
      const low = charCode(text, i + 1);
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        i++;
      }
    }
    if (code < 0x80) {
      bytes[n++] = code;
    } else if (code < 0x800) {
      bytes[n++] = 0xc0 | (code >> 6);
      bytes[n++] = 0x80 | (code & 63);
    } else if (code < 0x10000) {
      bytes[n++] = 0xe0 | (code >> 12);
      bytes[n++] = 0x80 | ((code >> 6) & 63);
      bytes[n++] = 0x80 | (code & 63);
    } else {
      bytes[n++] = 0xf0 | (code >> 18);
      bytes[n++] = 0x80 | ((code >> 12) & 63);
      bytes[n++] = 0x80 | ((code >> 6) & 63);
      bytes[n++] = 0x80 | (code & 63);
    }
  }
  return { bytes, length: n };
}

// Buffer of UTF-16 units, converted to text together: text that grows by single units takes 32
// bytes of the heap for each unit. The array has all its elements from the start, so that no
// property that a program sets on Array.prototype is read or written instead.
const UNITS_MAX = 8192, units = [];
for (let i = 0; i < UNITS_MAX; i++) units[i] = 0;

// Decodes UTF-8. Invalid bytes give an unspecified text, and no error.
function textOf(bytes, length) {
  let text = '', n = 0;
  const add = (unit) => {
    units[n++] = unit;
    if (n < UNITS_MAX) return;
    text += apply(fromCharCode, null, units);
    n = 0;
  };
  for (let i = 0; i < length; i++) {
    let code = bytes[i];
    const more = code < 0xc0 ? 0 : code < 0xe0 ? 1 : code < 0xf0 ? 2 : 3;
    if (more > 0) code &= 0x3f >> more;
    for (let k = 0; k < more; k++) code = (code << 6) | (bytes[++i] & 63);
    if (code >= 0x10000) {
      add(0xd800 + ((code - 0x10000) >> 10));
      code = 0xdc00 + ((code - 0x10000) & 0x3ff);
    }
    add(code);
  }
  for (let i = 0; i < n; i++) text += fromCharCode(units[i]);
  return text;
}

function readImage(path) {
  let bytes = new Uint8Array(1 << 16), length = 0, fd = -1;
  try {
    fd = open(path, 0x80000 /* O_CLOEXEC */, 0);
    for (let n = 1; n > 0; length += n) {
      if (length === bytes.length) {
        const larger = new Uint8Array(2 * length);
        for (let i = 0; i < length; i++) larger[i] = bytes[i];
        bytes = larger;
      }
      n = read(fd, bytes, length, bytes.length - length, -1);
    }
  } catch {
    throw new Error(`${path} cannot be read`);
  } finally {
    if (fd >= 0) close(fd);
  }
  return textOf(bytes, length);
}

const ROUND = new Int32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
  0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
  0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
  0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
  0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
  0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);

// Returns the SHA-256 as text of eight 32-bit numbers, the key of the table `accepted`. The module
// crypto would cost start-up time, and its functions call methods that a program can replace.
function hashOf(bytes, length) {
  const state = new Int32Array(8), words = new Int32Array(64), block = new Uint8Array(64);
  state[0] = 0x6a09e667; state[1] = 0xbb67ae85; state[2] = 0x3c6ef372; state[3] = 0xa54ff53a;
  state[4] = 0x510e527f; state[5] = 0x9b05688c; state[6] = 0x1f83d9ab; state[7] = 0x5be0cd19;
  const end = length + 9 + ((119 - (length % 64)) % 64);
  for (let at = 0; at < end; at += 64) {
    for (let i = 0; i < 64; i++) {
      const p = at + i;
      block[i] = p < length ? bytes[p] : p === length ? 0x80 : p < end - 8 ? 0 : p < end - 4 ? length / 0x20000000 / 2 ** (8 * (end - 5 - p)) : (length * 8) >>> (8 * (end - 1 - p));
    }
    for (let i = 0; i < 16; i++) words[i] = (block[4 * i] << 24) | (block[4 * i + 1] << 16) | (block[4 * i + 2] << 8) | block[4 * i + 3];
    for (let i = 16; i < 64; i++) {
      const x = words[i - 15], y = words[i - 2];
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3), s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      words[i] = (words[i - 16] + s0 + words[i - 7] + s1) | 0;
    }
    let a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUND[i] + words[i]) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0;
    }
    state[0] += a; state[1] += b; state[2] += c; state[3] += d; state[4] += e; state[5] += f; state[6] += g; state[7] += h;
  }
  return `${state[0]} ${state[1]} ${state[2]} ${state[3]} ${state[4]} ${state[5]} ${state[6]} ${state[7]}`;
}

// --- the accepted files -----------------------------------------------------------------------------------------

const accepted = { __proto__: null };
let count = 0;

// Adds hashes of HASH_BYTES bytes each to `accepted`. The supervisor sends at most ACCEPTED_MAX
// hashes, and none twice.
function accept(hashes) {
  for (let at = 0; at + HASH_BYTES <= hashes.length && count < ACCEPTED_MAX; at += HASH_BYTES, count++) {
    let key = '';
    for (let i = 0; i < HASH_BYTES; i += 4) key += `${i > 0 ? ' ' : ''}${(hashes[at + i] << 24) | (hashes[at + i + 1] << 16) | (hashes[at + i + 2] << 8) | hashes[at + i + 3]}`;
    accepted[key] = true;
  }
}

function shown(path) {
  let text = '';
  if (!startsWith(path, WORKSPACE)) return path;
  for (let i = WORKSPACE.length; i < path.length; i++) text += path[i];
  return text;
}

function refuse(path, why) {
  throw new Error(`${shown(path)} ${why}`);
}

const NOT_JUDGED = 'was not judged, so it is not loaded as code: upload it. JSON and other data can be read with fs';

// --- CommonJS ---------------------------------------------------------------------------------------------------

function requireOf(module) {
  const require = (name) => module.require(name);
  require.resolve = (name, options) => Module._resolveFilename(name, module, false, options);
  require.resolve.paths = (name) => Module._resolveLookupPaths(name, module);
  require.main = process.mainModule;
  require.extensions = Module._extensions;
  require.cache = Module._cache;
  return require;
}

function compile(content, filename, format) {
  let text = `${content}`;
  const path = `${filename}`;
  if (isOfImage(path)) {
    text = readImage(path);
  } else {
    const { bytes, length } = utf8(text);
    if (accepted[hashOf(bytes, length)] !== true && length > 0) refuse(path, NOT_JUDGED);
  }
  if (format === 'module') return compileOfNode(this, text, path, 'module'); // an ES module in require()
  const importModuleDynamically = (name, ignored, attributes) => importFrom(path, name, attributes);
  const body = compileFunction(text, ['exports', 'require', 'module', '__filename', '__dirname'], { __proto__: null, filename: path, importModuleDynamically });
  const folder = dirname(path);
  return body.call(this.exports, this.exports, requireOf(this), this, path, folder);
}

function dirname(path) {
  let end = 0, text = '';
  for (let i = 0; i < path.length; i++) if (path[i] === '/') end = i;
  for (let i = 0; i < end; i++) text += path[i];
  return text === '' ? '/' : text;
}

function loadNative(module, path, ...flags) {
  const name = `${path}`;
  if (!isOfImage(name)) refuse(name, 'is native code, which is loaded from the image alone');
  return dlopen.call(process, module, name, ...flags);
}

// --- ES modules -------------------------------------------------------------------------------------------------

const builtins = { __proto__: null };
for (const name of builtinModules) builtins[name] = builtins[`node:${name}`] = true;
const isBuiltin = (name) => builtins[name] === true || startsWith(name, 'node:');

// Calls a function while a method of `process` is replaced.
function during(name, replacement, call) {
  const own = getOwnPropertyDescriptor(process, name);
  defineProperty(process, name, { __proto__: null, value: replacement, writable: true, configurable: true });
  try {
    return call();
  } finally {
    if (own === undefined) delete process[name];
    else defineProperty(process, name, own);
  }
}

// Copies of the methods of threads, ports and streams, made before a program runs: objects, and
// their property descriptors by key.
const kept = [];
function keepMethods(object) {
  for (let each = object; each !== Object.prototype && keptOf(each) === null; each = getPrototypeOf(each)) {
    const own = { __proto__: null };
    for (const key of ownKeys(each)) own[key] = getOwnPropertyDescriptor(each, key);
    kept[kept.length] = { object: each, own };
  }
}

function keptOf(object) {
  for (let i = 0; i < kept.length; i++) if (kept[i].object === object) return kept[i].own;
  return null;
}

for (const object of [Worker.prototype, MessagePort.prototype, Duplex.prototype, Writable.prototype]) keepMethods(object);

// Creates a thread with the copied methods in place of the program's: methods called during the
// creation receive the thread, its port and its messages.
function createThread(create) {
  const changed = [];
  for (let i = 0; i < kept.length; i++) {
    const { object, own } = kept[i], names = ownKeys(object), before = ownKeys(own);
    for (let k = 0; k < names.length + before.length; k++) {
      const key = k < names.length ? names[k] : before[k - names.length];
      const was = own[key], now = getOwnPropertyDescriptor(object, key);
      if (was?.value === now?.value && was?.get === now?.get && was?.set === now?.set) continue;
      changed[changed.length] = { object, key, now };
      if (was === undefined) delete object[key];
      else defineProperty(object, key, was);
    }
  }
  try {
    return create();
  } finally {
    for (let i = 0; i < changed.length; i++) {
      const { object, key, now } = changed[i];
      if (now === undefined) delete object[key];
      else defineProperty(object, key, now);
    }
  }
}

// Defines the copied methods on a thread or a port itself, so later replacements on the prototypes
// have no effect.
function pinMethods(target) {
  const done = { __proto__: null, constructor: true };
  for (let each = target; each !== Object.prototype; each = getPrototypeOf(each)) {
    const own = keptOf(each), names = ownKeys(own ?? each);
    for (let i = 0; i < names.length; i++) {
      if (done[names[i]]) continue;
      done[names[i]] = true;
      if (own !== null) defineProperty(target, names[i], own[names[i]]);
    }
  }
}

// Returns the port between this thread and a worker.
function portOf(worker) {
  const symbols = getOwnPropertySymbols(worker);
  for (let i = 0; i < symbols.length; i++) if (nameOf(symbols[i]) === 'Symbol(kPublicPort)') {
    const port = worker[symbols[i]];
    pinMethods(port);
    pinMethods(worker);
    return port;
  }
  throw new Error('the worker has no port');
}

// Node caches a failed module, and all modules that import it, until the process ends. So the URLs
// of a refused module and of its importers get a new query: the next import reads the file again,
// which may be accepted by then.
const importers = new Map(), refusals = new Map();
const plain = (url) => url.replace(/[?&]judged=\d+$/, '');

function noteRefusal(url) {
  const queue = [plain(url)], seen = new Set(queue);
  for (const each of queue) {
    refusals.set(each, (refusals.get(each) ?? 0) + 1);
    for (const importer of importers.get(each) ?? []) if (!seen.has(importer)) queue.push(importer), seen.add(importer);
  }
}

function resolve(name, context, next) {
  const found = next(name, context), { url } = found;
  if (!startsWith(url, 'file:') || isImageURL(url)) return found;
  if (!importers.has(url)) importers.set(url, new Set());
  if (context.parentURL?.startsWith('file:')) importers.get(url).add(plain(context.parentURL));
  const refused = refusals.get(url);
  return refused === undefined ? found : { ...found, url: `${url}${url.includes('?') ? '&' : '?'}judged=${refused}` };
}

// Returns whether the URL is a file of the image, with a path that needs no decoding.
const FILE = 'file://';
function isImageURL(url) {
  for (let i = 0; i < url.length; i++) if (url[i] === '%' || url[i] === '?' || url[i] === '#' || url[i] === '\\') return false;
  return startsWith(url, FILE) && isOfImage(pathOf(url));
}

function pathOf(url) {
  let path = '';
  for (let i = FILE.length; i < url.length; i++) path += url[i];
  return path;
}

// Node's formats of modules. `undefined`: Node detects the format from the text, after the loading.
// The modules of LATER are no code, or `_compile` checks them.
const CODE = { __proto__: null, module: true, 'module-typescript': true, undefined: true };
const LATER = { __proto__: null, commonjs: true, 'commonjs-typescript': true, json: true, builtin: true };

// Hook of Node: returns the source of an ES module. The source is the hashed text; for a file of
// the image, the text of that file.
function load(address, context, next) {
  const url = `${address}`;
  const loaded = next(url, context);
  const format = loaded.format === null || loaded.format === undefined ? undefined : `${loaded.format}`;
  if (LATER[format] === true || !startsWith(url, 'file:')) return loaded;
  if (isImageURL(url)) return { __proto__: null, format, source: readImage(pathOf(url)), shortCircuit: true };
  const { source } = loaded, length = typeof source === 'string' ? 0 : source?.length >>> 0;
  let copy = { bytes: new Uint8Array(length), length };
  if (typeof source === 'string') copy = utf8(source);
  else for (let i = 0; i < length; i++) copy.bytes[i] = source[i];
  if (CODE[format] !== true || (accepted[hashOf(copy.bytes, copy.length)] !== true && copy.length > 0)) {
    noteRefusal(url);
    refuse(fileURLToPath(url), NOT_JUDGED);
  }
  return { __proto__: null, format, source: textOf(copy.bytes, copy.length), shortCircuit: true };
}

// Imports `name` for the code of the file at `path`. Names of packages resolve as in require.
async function importFrom(path, name, attributes) {
  const text = `${name}`, options = { __proto__: null, with: attributes };
  if (isBuiltin(text)) return import(text, options);
  let url = text;
  if (text[0] === '/' || text[0] === '.') {
    url = new URL(text, pathToFileURL(path)).href;
  } else {
    try {
      url = pathToFileURL(createRequire(path).resolve(text)).href;
    } catch (error) {
      // `text` is a URL, or a name that import() reports as missing
    }
  }
  return import(url, options);
}

// Replaces Node's functions. The kernel calls this after it has loaded its own files.
function install() {
  registerHooks({ resolve, load });
  Module.prototype._compile = compile;
  Object.defineProperty(process, 'dlopen', { value: loadNative, writable: false, configurable: false, enumerable: true });
  for (const name of ['register', 'registerHooks', 'runMain']) delete Module[name];
  for (const name of ['SourceTextModule', 'SyntheticModule', 'Module']) delete vm[name];
}

module.exports = { accept, createThread, during, importFrom, install, isOfImage, portOf };
