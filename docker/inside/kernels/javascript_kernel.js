// SPDX-License-Identifier: MIT
// The JavaScript kernel: runs in a sandbox and exchanges frames with the supervisor on descriptor
// 3. V8's REPL mode evaluates the code: state persists, let and const may be declared again, await
// works at the top level. The kernel removes the types of TypeScript and rewrites the syntax that
// REPL mode does not parse (javascript_cells.js); it runs all other code as received.
//
// At an interrupt V8 terminates the execution: all frames are unwound, the state stays. Until its
// first wait, a cell is evaluated in a script that SIGINT terminates. If the cell continues after
// that, and in all cells after the first interrupt, a watcher thread (javascript_watch.js) has the
// channel and receives the interrupt while the program blocks the event loop. So the kernel's code
// must not depend on the call that began a run, and a frame whose write was terminated is completed
// before the next frame.
'use strict';
const fs = require('fs');
const inspector = require('inspector');
const { Module, createRequire, syncBuiltinESMExports } = require('module');
const net = require('net');
const path = require('path');
const timers = require('timers');
const { pathToFileURL } = require('url');
const promises = require('timers/promises');
const util = require('util');
const vm = require('vm');
const { Worker } = require('worker_threads');
const { accept, createThread, during, importFrom, install, portOf } = require('./javascript_loaders.js');
const { refuseCode } = require('./javascript_guard.js');

const ONE_SHOT_OFFSET = 17, REFUSED_OFFSET = 18, ARGUMENTS_OFFSET = 20, IMPORTS_OFFSET = 24, INPUT_OFFSET = 28, RUN_HEAD = 32; // struct cbx_frame_run
const EVALUATE = 9; // row of policies/guard/guard.def
const CONTROL = 3;
const BUNDLE_MAX = 64 << 20; // below the limits of frame.def
const ERROR_MAX = 200000;
const MADE = 'code that was made at run time';

// References for the kernel's own use: the program may replace every object that it can name.
const { inspect } = util;
const { stringify, parse: readJson } = JSON;
const { fromCharCode } = String;
const isOurs = Function.prototype.call.bind(Set.prototype.has);
const { fstatSync, openSync, writeSync } = fs;
const { startSigintWatchdog, stopSigintWatchdog } = process.binding('contextify');
const { writeBuffer } = process.binding('fs'); // fs.writeSync may be terminated between its write and its return
const { alloc, concat, from, isBuffer } = Buffer;
const part = Function.prototype.call.bind(Buffer.prototype.subarray);
const textOf = Function.prototype.call.bind(Buffer.prototype.utf8Slice);
const numberAt = (bytes, at) => bytes[at] + bytes[at + 1] * 0x100 + bytes[at + 2] * 0x10000 + bytes[at + 3] * 0x1000000;
const { wait, load, store } = Atomics;
const reallyExit = process.reallyExit.bind(process);
const getHandles = process._getActiveHandles.bind(process);
const getInfo = process.getActiveResourcesInfo.bind(process);
const countResources = () => getInfo().filter((each) => each !== 'Timeout' && each !== 'Immediate').length;
const { setImmediate } = timers;
const then = Function.prototype.call.bind(Promise.prototype.then);

// --- frames -----------------------------------------------------------------------------------------------------

// Shared with the watcher: the number of the last run that has ended, and of the run that was
// interrupted.
const shared = new Int32Array(new SharedArrayBuffer(8));
const ENDED = 0, ASKED = 1;
const nothing = new Int32Array(new SharedArrayBuffer(4));

let outgoing = alloc(0), sent = 0;

// No call stands between a write and the addition to `sent`: V8 terminates at calls and at the ends
// of loops.
function flush() {
  while (sent < outgoing.length) {
    const context = {};
    const n = writeBuffer(CONTROL, outgoing, sent, outgoing.length - sent, null, undefined, context);
    if (n > 0) sent += n;
    else if (context.code === 'EPIPE' || context.code === 'EBADF') reallyExit(1);
    else wait(nothing, 0, 0, 1); // the socket is full, or a termination is pending and the error code missing
  }
}

// Frames are written synchronously: output must be sent before the process can end.
function sendFrame(type, payload = alloc(0), ends = null) {
  const head = alloc(5);
  head.writeUInt8(type.charCodeAt(0), 0);
  head.writeUInt32LE(payload.length, 1);
  const data = concat([head, payload]);
  flush();
  if (ends !== null) {
    shared[ENDED] = ends.number;
    current = null;
  }
  outgoing = data;
  sent = 0;
  flush();
}

// Sends a short text without an allocation: programs print line by line.
const TEXT_MAX = 16384;
const textFrame = alloc(5 + 3 * TEXT_MAX);
function sendText(type, text) {
  flush();
  const length = textFrame.utf8Write(text, 5);
  textFrame.writeUInt8(type.charCodeAt(0), 0);
  textFrame.writeUInt32LE(length, 1);
  const data = textFrame.subarray(0, 5 + length);
  outgoing = data;
  sent = 0;
  flush();
}

// The report of a refusal: the supervisor counts it only with the secret of the kernel's first
// frame. Only buffers of alloc are used: other small buffers share memory that a program reads.
const SECRET_BYTES = 8;
const refusal = alloc(5 + 16 + MADE.length);
function introduce() {
  const fd = openSync('/dev/urandom', 'r'), frame = alloc(5 + SECRET_BYTES);
  frame[0] = 'S'.charCodeAt(0);
  frame[1] = SECRET_BYTES;
  fs.readSync(fd, frame, 5, SECRET_BYTES);
  fs.closeSync(fd);
  refusal[0] = 'x'.charCodeAt(0);
  refusal.writeUInt32LE(16 + MADE.length, 1);
  for (let i = 0; i < SECRET_BYTES; i++) refusal[5 + i] = frame[5 + i];
  refusal[5 + SECRET_BYTES] = EVALUATE;
  refusal.latin1Write(MADE, 5 + 16);
  outgoing = frame;
  sent = 0;
  flush();
}

function reportCode() {
  flush();
  outgoing = refusal;
  sent = 0;
  flush();
}

function sendBytes(type, data) {
  for (let at = 0; at < data.length; at += 1 << 20) sendFrame(type, data.subarray(at, at + (1 << 20)));
}

function bytesOf(chunk, encoding) {
  if (chunk instanceof Uint8Array) return from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return from(String(chunk), typeof encoding === 'string' ? encoding : 'utf8');
}

function replaceStream(stream, type) {
  stream.write = (chunk, encoding, callback) => {
    if (typeof chunk === 'string' && chunk.length <= TEXT_MAX && (typeof encoding !== 'string' || encoding === 'utf8')) sendText(type, chunk);
    else sendBytes(type, bytesOf(chunk, encoding));
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
  stream.end = (chunk, encoding, callback) => {
    if (chunk !== undefined && chunk !== null && typeof chunk !== 'function') stream.write(chunk, encoding);
    const done = [chunk, encoding, callback].find((each) => typeof each === 'function');
    if (done) process.nextTick(done);
    return stream;
  };
}
replaceStream(process.stdout, 'O');
replaceStream(process.stderr, 'e');
// These streams raise no errors. With error handling on, each console call would add a listener,
// and a terminated call would not remove its listener.
console._ignoreErrors = false;

// Each run has a stdin stream of its own, like Node's stream for a pipe. The stream reads a second
// descriptor of the same input, because Node makes the descriptor of a stream non-blocking, while
// fs.readFileSync(0) and child processes need a blocking descriptor 0. A run that waits for input
// after the end of the input fails with an explanation. A program may close descriptor 0; the next
// opened file gets this number.
const ownStdin = `/proc/self/fd/${openSync('/proc/self/fd/0', 'r')}`;
function renewInput() {
  try {
    fstatSync(0);
  } catch (closed) {
    openSync(ownStdin, 'r');
  }
}
let stdin;
function closeStdin() {
  if (stdin !== undefined) stdin.destroy();
  stdin = undefined;
}
function openStdin(run) {
  const stream = new net.Socket({ fd: openSync(ownStdin, 'r'), readable: true, writable: false, manualStart: true });
  const stop = () => {
    if (!stream._handle?.reading) return;
    stream._handle.reading = false;
    stream._handle.readStop();
  };
  stream.fd = 0;
  stream.on('pause', () => {
    stream._readableState.reading = false;
    stop();
  });
  stream.once('end', () => {
    if (run === null || run !== current) return;
    run.isStarved = true;
    unref();
  });
  return stream;
}
Object.defineProperty(process, 'stdin', {
  configurable: true,
  enumerable: true,
  get() {
    if (stdin === undefined) stdin = openStdin(current);
    return stdin;
  },
});

// Keeps writes that bypass the streams in order with the output of the streams.
fs.writeSync = function (fd, data, ...rest) {
  if (fd !== 1 && fd !== 2) return writeSync(fd, data, ...rest);
  let bytes;
  if (typeof data === 'string') {
    bytes = bytesOf(data, rest[1]);
  } else {
    const all = from(data.buffer, data.byteOffset, data.byteLength);
    const offset = typeof rest[0] === 'number' ? rest[0] : 0;
    bytes = all.subarray(offset, typeof rest[1] === 'number' ? offset + rest[1] : all.length);
  }
  sendBytes(fd === 1 ? 'O' : 'e', bytes);
  return bytes.length;
};

// --- values ----------------------------------------------------------------------------------------------

const isBinary = (mime) => (/^(image|audio|video)\//.test(mime) && mime !== 'image/svg+xml') || mime === 'application/pdf';

// Returns a part of a bundle as bytes. A picture may be bytes, base64 or a data: URL.
function partOf(mime, value) {
  if (value instanceof ArrayBuffer) return from(value);
  if (ArrayBuffer.isView(value)) return from(value.buffer, value.byteOffset, value.byteLength);
  if (typeof value === 'string') {
    const base64 = value.replace(/^data:[^,]*;base64,/, '');
    if (isBinary(mime) && /^[A-Za-z0-9+/\s]+=*\s*$/.test(base64)) return from(base64, 'base64');
    return from(value);
  }
  return from(mime.startsWith('text/') || value === undefined ? String(value) : stringify(value));
}

function sendBundle(type, bundle) {
  const parts = Object.entries(bundle).slice(0, 32).map(([mime, value]) => [mime, partOf(mime, value)]);
  const listing = from(stringify(parts.map(([mime, raw]) => [mime, raw.length])));
  const size = alloc(4);
  size.writeUInt32LE(listing.length, 0);
  const payload = concat([size, listing, ...parts.map(([, raw]) => raw)]);
  if (payload.length > BUNDLE_MAX) sendFrame('e', from(`a value of ${payload.length} bytes is not shown, allowed are ${BUNDLE_MAX}\n`));
  else sendFrame(type, payload);
}

const magic = [
  ['image/png', /^89504e470d0a1a0a/], ['image/jpeg', /^ffd8ff/], ['image/gif', /^4749463[89]/], ['image/webp', /^52494646.{8}57454250/],
  ['application/pdf', /^255044462d/],
];
function bundleOf(value) {
  if (value instanceof Uint8Array) {
    const raw = from(value.buffer, value.byteOffset, value.byteLength);
    const start = raw.subarray(0, 12).toString('hex');
    const found = magic.find(([, pattern]) => pattern.test(start));
    if (found) return { [found[0]]: raw };
  }
  return { 'text/plain': inspect(value, { colors: false, depth: 4 }) };
}

// display(value), display(data, 'image/png'), display({'text/html': '...', 'text/plain': '...'})
globalThis.display = (value, mime) => {
  const isPlain = value !== null && typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value));
  const keys = isPlain ? Object.keys(value) : [];
  if (mime) sendBundle('D', { [mime]: value });
  else sendBundle('D', keys.length > 0 && keys.every((key) => /^[a-z]+\/[\w.+-]+$/.test(key)) ? value : bundleOf(value));
};
// Node also searches ~/.node_modules and ~/.node_libraries for packages, and the home folder is the
// workspace, so the search paths are initialised without a home folder.
const home = process.env.HOME;
delete process.env.HOME;
Module._initPaths();
process.env.HOME = home;
globalThis.require = createRequire('/workspace/');

// Cuts a stack trace at the kernel's call of the program: the frames below belong to the kernel.
Error.prepareStackTrace = (error, frames) => {
  const end = frames.findIndex((frame) => frame.getFileName() === __filename || frame.getFileName() === 'node:inspector');
  let text;
  try {
    text = Error.prototype.toString.call(error);
  } catch (broken) {
    text = 'Error';
  }
  return [text, ...(end < 0 ? frames : frames.slice(0, end))].join('\n    at ');
};

// JSON may contain an unpaired surrogate as an escape, which the host rejects.
const whole = (text) => from(String(text)).toString();
function attempt(what, otherwise) {
  try {
    return what();
  } catch (broken) {
    return otherwise; // a getter throws, or the program replaced a function
  }
}

function describe(error) {
  const isError = attempt(() => error instanceof Error || typeof error?.stack === 'string', true);
  let text = attempt(() => inspect(error, { colors: false, depth: 4, maxStringLength: 60000 }), '');
  if (!isError) return { ename: 'Error', evalue: text, text: `Uncaught ${text}` };
  if (attempt(() => text.startsWith(`[${error.stack}]`), false)) text = error.stack + text.slice(error.stack.length + 2);
  text = text.split('\n').filter((line) => !/^ +at .*\(?(node:internal|\/codebox\/)/.test(line)).join('\n');
  return { ename: attempt(() => whole(error.name || 'Error'), 'Error'), evalue: attempt(() => whole(error.message), '(its text cannot be read)'), text };
}

function sendError(error) {
  const description = attempt(() => describe(error), { ename: 'Error', evalue: '(it cannot be described)', text: '' });
  for (let most = 60000; ; most = Math.floor(most / 2)) {
    const text = description.text.length <= most ? description.text : `${description.text.slice(0, most / 2)}\n...\n${description.text.slice(-most / 2)}`;
    const body = from(stringify({ ename: whole(description.ename.slice(0, 1000)), evalue: whole(description.evalue.slice(0, most / 8)), traceback: whole(text).split('\n') }));
    if (body.length <= ERROR_MAX) return sendFrame('X', body);
  }
}

// --- rewriting of cells -----------------------------------------------------------------------------------------

// The realm of javascript_cells.js. Programs reach no object of this realm, and this realm uses no
// object of a program's realm.
const realm = vm.createContext(vm.constants.DONT_CONTEXTIFY);
function loadInRealm(file) {
  const load = vm.runInContext('(function (text) { const module = { exports: {} }; text(module.exports, module); return module.exports; })', realm);
  return load(vm.runInContext(`(function (exports, module) {${fs.readFileSync(file, 'utf8')}\n})`, realm, { filename: file }));
}
// Only the TypeScript image loads the compiler, because loading takes time.
const isTypeScript = process.argv[2] === 'typescript';
const makeCells = loadInRealm(path.join(__dirname, 'javascript_cells.js'));
const { rewrite, withoutTypes } = makeCells(loadInRealm('/codebox/acorn.js'), isTypeScript ? loadInRealm('/codebox/typescript.js') : null);

function removeTypes(code, { isOneShot, words }) {
  const made = readJson(withoutTypes(code, isOneShot, words.length > 0 && path.extname(words[0]) === '.tsx'));
  if (typeof made === 'string') return made;
  const error = new SyntaxError(made[0]);
  error.stack = made.map((line) => `SyntaxError: ${line}`).join('\n');
  throw error;
}

// --- evaluation -------------------------------------------------------------------------------------------------

const session = new inspector.Session();
session.connect();
// The last evaluated value. The inspector protocol only describes values, so the kernel calls the
// function `take` with the value's handle.
let fetched;
// The functions that rewritten cells call, under global names with a secret. A program cannot call
// them: the analyzer resolves calls by constant names, and denies computed names.
const own = { take: (value) => { fetched = value; }, call: () => call() };
const secret = Array.from({ length: 4 }, () => Math.random().toString(36).slice(2)).join('');
const ownName = (name) => `__codebox_${name}_${secret}__`;
function publish(name, value) {
  own[name] = value;
  Object.defineProperty(globalThis, ownName(name), { get: () => own[name], enumerable: false, configurable: false });
}
publish('take', own.take);
publish('call', own.call);

// A termination may unwind the caller before it waits for the reply. The empty handler prevents
// that Node reports an error reply without a waiter as an unhandled rejection of the program.
function post(method, parameters) {
  let settle;
  const reply = new Promise((resolve, reject) => { settle = { resolve, reject }; });
  then(reply, undefined, () => {});
  session.post(method, parameters, (error, result) => (error ? settle.reject(new Error(error.message.replace(/^Inspector error -?\d+: /, ''))) : settle.resolve(result)));
  return reply;
}

async function valueOf(remote) {
  if (remote.type === 'undefined') return undefined;
  if (remote.objectId === undefined) {
    if (remote.unserializableValue !== undefined) {
      const text = remote.unserializableValue;
      return text.endsWith('n') ? BigInt(text.slice(0, -1)) : Number(text);
    }
    return remote.value;
  }
  await post('Runtime.callFunctionOn', { objectId: remote.objectId, functionDeclaration: `function () { "use strict"; ${ownName('take')}(this); }`, silent: true });
  const value = fetched;
  fetched = undefined;
  return value;
}

let count = 0;

// Writes the line and column of a SyntaxError into its stack: V8 reports them outside of the error.
function placeError(error, code, { lineNumber, columnNumber }) {
  const line = code.split('\n')[lineNumber];
  if (line !== undefined) error.stack = `cell-${count}.js:${lineNumber + 1}\n${line.slice(0, 500)}\n${' '.repeat(Math.min(columnNumber, 500))}^\n${error.name}: ${error.message}`;
  return error;
}

// Evaluates `{a: 1}` as an object if it parses as an object, like node's prompt.
function asExpression(code) {
  if (!/^\s*\{[^]*\}\s*$/.test(code)) return code;
  try {
    new vm.Script(`(${code}\n)`);
    return `(${code}\n)`;
  } catch (error) {
    return code;
  }
}

// import() in a cell: the cell belongs to no module, so V8 cannot resolve module names for it.
publish('import', (name, options) => importFrom('/workspace/', name, options?.with ?? options?.assert));
// A static import of a module. Fails if the module lacks one of `names`.
publish('static', async (name, names, attributes) => {
  const found = await importFrom('/workspace/', name, attributes);
  for (const each of names) if (!(each in found)) throw new SyntaxError(`The requested module '${name}' does not provide an export named '${each}'`);
  return found;
});
publish('meta', undefined); // import.meta; evaluate() sets it for each cell
class Return { // thrown by a `return` at the top level
  constructor(value) { this.value = value; }
}
publish('return', (value) => new Return(value));
const rewritten = (code) => readJson(rewrite(code, secret));

function metaOf(file) {
  const url = pathToFileURL(file).href;
  return { __proto__: null, dirname: path.dirname(file), filename: file, url, main: true, resolve: (name) => (/^[./]/.test(name) ? new URL(name, url).href : pathToFileURL(require.resolve(name)).href) };
}

async function evaluate(code, file) {
  count++;
  own.meta = metaOf(file ?? `/workspace/cell-${count}.mjs`);
  let text = /\bimport\s*\(/.test(code) ? rewritten(code) : code;
  for (;;) {
    const expression = `${asExpression(text)}\n//# sourceURL=cell-${count}.js`;
    const reply = await post('Runtime.evaluate', { expression, replMode: true, awaitPromise: true, silent: true, userGesture: true });
    if (!reply.exceptionDetails) return valueOf(reply.result);
    const details = reply.exceptionDetails;
    const error = details.exception ? await valueOf(details.exception) : new Error(details.text);
    if (error instanceof Return) return error.value;
    const isSyntax = error instanceof SyntaxError && !/\n\s+at .*cell-\d+\.js/.test(error.stack);
    // No part of a text with a syntax error has run, so the rewritten text may run.
    const again = isSyntax && text === code ? rewritten(code) : text;
    if (again === text) throw isSyntax ? placeError(error, code, details) : error;
    text = again;
  }
}

// --- runs -------------------------------------------------------------------------------------------------------

let current = null; // the current run; finish() ends it once
let runs = 0;
let ours, resources; // handles of the kernel itself
const control = new net.Socket({ fd: CONTROL, readable: true, writable: true });
let watcher = null;
// A SIGINT that arrives when a script with breakOnSigint ends stays counted in Node, which then
// terminates the next such script. So after an interrupt, only the watcher ends runs.
let wasInterrupted = false;
const WATCHER = fs.readFileSync(path.join(__dirname, 'javascript_watch.js'), 'utf8');

// While a program runs, the channel must not keep the event loop alive.
const unref = () => (watcher ?? control).unref();
const ref = () => (watcher ?? control).ref();

function startWatcher(run) {
  control._handle.readStop(); // pause() would continue to fill the buffer
  control.unref();
  const before = new Set(getHandles());
  // Node emits an event of `process` for each thread, at the next tick. The replaced nextTick drops
  // the event of the watcher.
  const options = { __proto__: null, eval: true, workerData: { shared, channel: CONTROL, started: run.number, inbox }, execArgv: [], env: {} };
  watcher = during('nextTick', () => {}, () => createThread(() => new Worker(WATCHER, options)));
  // An own `emit` receives the watcher's messages: the program may replace the prototype's `emit`.
  watcher.emit = (name, { run: payload, interrupted, warm, hashes } = {}) => {
    if (name !== 'message') return true;
    if (hashes !== undefined) accept(hashes);
    else if (payload !== undefined) take(readRun(from(payload.buffer, payload.byteOffset, payload.byteLength)));
    else if (warm) sendFrame('Y');
    else if (current?.number === interrupted) interrupt();
    else flush(); // of the run's last frame
    return true;
  };
  ours.add(portOf(watcher));
  for (const handle of getHandles()) if (!before.has(handle)) ours.add(handle);
  if (run.isEvaluated || run.isStarved) watcher.unref();
}

function finish(run, status) {
  if (run !== current) return;
  process.exitCode = undefined;
  closeStdin();
  ref();
  const code = alloc(4);
  code.writeInt32LE(status, 0);
  sendFrame('F', code, run);
}

// Ends a failed program, and stops its timers, servers, connections and children.
function fail(run, error) {
  if (run !== current) return;
  const isInterrupted = load(shared, ASKED) === run.number;
  const reason = isInterrupted ? interrupted(run) : error; // counts the timers, so before the stop
  stopEverything(run);
  sendError(reason);
  if (run.isOneShot && !isInterrupted) attempt(() => process.emit('exit', 1));
  finish(run, 1);
}

async function begin(run, code) {
  try {
    const value = await evaluate(isTypeScript ? removeTypes(code, run) : code, run.file);
    if (run !== current) return;
    const bundle = value !== undefined ? bundleOf(value) : undefined;
    // Set before the value is sent: a caller that reads the value may interrupt the run at once.
    run.isEvaluated = true;
    if (bundle !== undefined) sendBundle('R', bundle);
    // As under node, the program ends when the event loop is empty: pending timers and promises
    // belong to the program. The watcher must not keep the loop alive.
    unref();
  } catch (error) {
    fail(run, error);
  }
}
// The event loop is empty. The program's own listeners run after this one, and may start new work.
process.on('beforeExit', () => {
  if (current && load(shared, ASKED) === current.number) interrupt();
  else if (current?.isEvaluated) setImmediate(endUnlessBusy, current, getInfo().length);
  else if (current?.isStarved) fail(current, new Error(current.hasInput ? 'the input has ended, and the program waits for more' : 'the program waits for input, and there is none here'));
});

function endUnlessBusy(run, idleResources) {
  if (run !== current || getInfo().length > idleResources) return;
  if (run.isOneShot) {
    try {
      process.emit('exit', Number(process.exitCode) || 0);
    } catch (error) {
      run.isOneShot = false; // its exit listeners have run
      fail(run, error);
      return;
    }
  }
  finish(run, (Number(process.exitCode) || 0) & 255);
}

// Parses a RUN frame: its head, the modules to refuse (used only by Python's kernel), the file name
// and arguments of the program, the source.
function readRun(payload) {
  const start = RUN_HEAD + numberAt(payload, IMPORTS_OFFSET), end = start + numberAt(payload, ARGUMENTS_OFFSET);
  const words = textOf(payload, start, end).split('\0').slice(0, -1);
  return { isOneShot: payload[ONE_SHOT_OFFSET] === 1, refusesCode: ((payload[REFUSED_OFFSET] + payload[REFUSED_OFFSET + 1] * 256) >> EVALUATE) % 2 === 1, hasInput: payload[INPUT_OFFSET] === 1, words, code: textOf(payload, end, payload.length) };
}

// Sets the proxy of http and fetch. Node reads the proxy variables only at its start, before the
// kernel receives them. Node's fetch would send http: URLs through tunnels, which carry only TLS
// (docker/egress/relay/tunnel.h). Node has no function that changes this, so the kernel replaces
// the dispatchers that undici stores under these symbols by a dispatcher with the option
// `proxyTunnel`.
function useProxy({ HTTP_PROXY: httpProxy, HTTPS_PROXY: httpsProxy, NO_PROXY: noProxy }) {
  require('http').setGlobalProxyFromEnv(process.env);
  const keys = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`)).filter((key) => globalThis[key] !== undefined);
  const Dispatcher = globalThis[keys[0]].constructor;
  const dispatcher = new Dispatcher({ httpProxy, httpsProxy, noProxy, proxyTunnel: false });
  keys.forEach((key) => { globalThis[key] = dispatcher; });
}

// Sets the variables of a VARIABLES frame.
function setVariables(text) {
  for (const entry of text.split('\0').slice(0, -1)) {
    const at = entry.indexOf('=');
    process.env[entry.slice(0, at)] = entry.slice(at + 1);
  }
  if (process.env.HTTP_PROXY !== undefined) useProxy(process.env);
}

// Defines the globals that node defines for a main program. Returns the program's path.
function becomeProgram([name, ...words]) {
  const filename = path.join('/workspace', name || (isTypeScript ? 'main.ts' : 'main.js'));
  const main = Object.assign(new Module(filename, null), { filename, paths: Module._nodeModulePaths('/workspace') });
  const requireMain = Object.assign(createRequire(filename), { main });
  process.argv = [process.execPath, filename, ...words];
  Object.assign(globalThis, { __filename: filename, __dirname: '/workspace', module: main, exports: main.exports, require: requireMain });
  return filename;
}

// The supervisor sends one run at a time.
function take({ isOneShot, refusesCode, hasInput, words, code }) {
  if (runs === 0 && refusesCode) refuseCode(reportCode); // what the first run may do, later ones may
  if (ours === undefined) {
    ours = new Set(getHandles());
    resources = countResources();
  }
  closeStdin();
  renewInput();
  const file = isOneShot || words.length > 0 ? becomeProgram(words) : undefined;
  current = { number: ++runs, isOneShot, hasInput, words, file, handles: new Map(), stop: new AbortController(), isEvaluated: false, isStarved: false };
  const run = current;
  call = () => {
    begin(run, code);
    drain();
  };
  if (watcher === null && wasInterrupted) startWatcher(run);
  if (watcher !== null) {
    call();
    return;
  }
  const listeners = holdSignal();
  let termination = null;
  try {
    interruptible.runInThisContext({ breakOnSigint: true });
  } catch (error) {
    termination = error;
  }
  for (const listener of listeners) process.on('SIGINT', listener);
  if (termination !== null) {
    wasInterrupted = true;
    if (run === current) store(shared, ASKED, run.number);
    fail(run, termination);
    flush(); // of the last frame, whose write may have been terminated
  }
  // The run continues with a promise, a timer or a server.
  if (run === current && (!run.isEvaluated || run.handles.size > 0 || countResources() > resources)) startWatcher(run);
}

// Replaces the listeners of SIGINT, which are returned, by the handler of breakOnSigint until they
// are added again. breakOnSigint alone would do so at its start, and at its end set a handler that
// ends the process: a signal that arrives then would cost the session.
let isHeld = false;
function holdSignal() {
  const listeners = process.rawListeners('SIGINT');
  process.removeAllListeners('SIGINT');
  if (isHeld) stopSigintWatchdog();
  startSigintWatchdog();
  isHeld = true;
  return listeners;
}

// SIGINT terminates the functions that this script calls, including the jobs of settled promises.
let call;
const interruptible = new vm.Script(`${ownName('call')}()`, { filename: __filename });
const drain = process._tickCallback.bind(process);

// The timers of a cell are recorded, so that they can be stopped when it fails.
for (const [name, clear] of [['setTimeout', timers.clearTimeout], ['setInterval', timers.clearInterval], ['setImmediate', timers.clearImmediate]]) {
  const real = timers[name];
  const recording = function (...parameters) {
    const handle = real.apply(this, parameters);
    const handles = current?.handles;
    if (handles) {
      if (handles.size % 1000 === 999) for (const each of handles.keys()) if (each._destroyed) handles.delete(each);
      handles.set(handle, clear);
    }
    return handle;
  };
  Object.defineProperties(recording, Object.getOwnPropertyDescriptors(real));
  timers[name] = globalThis[name] = recording;
}
for (const name of ['setTimeout', 'setInterval']) {
  const real = promises[name];
  promises[name] = (delay, value, options = {}) => real(delay, value, current && !options.signal ? { ...options, signal: current.stop.signal } : options);
}

// Stops the timers, servers, connections and children of a run.
const stopped = new Error('the run has ended');
function stopEverything(run) {
  for (const [handle, clear] of run.handles) clear(handle);
  run.stop.abort(stopped);
  for (const handle of getHandles()) {
    if (isOurs(ours, handle)) continue;
    try {
      if (typeof handle.kill === 'function') handle.kill('SIGKILL');
      else if (typeof handle.destroy === 'function') handle.destroy();
      else if (typeof handle.close === 'function') handle.close();
    } catch (error) {
      // the handle is closed already
    }
  }
}

// Returns the error for an interrupted run. As under node, a program whose code has ended still
// waits for its timers, connections and processes; the message says so.
function interrupted(run) {
  const timers = run.isEvaluated ? [...run.handles.keys()].filter((handle) => !handle._destroyed).length : 0;
  const left = timers > 0 ? `${timers} timer${timers > 1 ? 's' : ''}, which clearInterval or clearTimeout ends,` : 'a connection, a server or a process';
  const error = new Error(run.isEvaluated ? `all of its code had run, and ${left} kept it running until it was interrupted` : 'the program was interrupted');
  error.name = 'Interrupted';
  error.stack = `Interrupted: ${error.message}`;
  return error;
}

function interrupt() {
  if (current === null) return;
  store(shared, ASKED, current.number);
  fail(current);
}

function onError(error) {
  if (attempt(() => error?.cause === stopped, false)) return; // a promise of a run that was stopped
  if (current) fail(current, error);
  else sendFrame('e', from(`${inspect(error)}\n`));
}
process.on('uncaughtException', onError);
process.on('unhandledRejection', onError);
process.on('SIGINT', () => {}); // may arrive after its run; the watcher's message names the run
let inbox = alloc(0);
// Own `push` and `emit` receive the input and events of the channel. The program may replace the
// methods of the prototypes: it would get the socket, and could send itself frames.
control.push = (chunk) => {
  if (chunk === null) reallyExit(0);
  inbox = concat([inbox, chunk]);
  while (inbox.length >= 5 && inbox.length >= 5 + numberAt(inbox, 1)) {
    const type = fromCharCode(inbox[0]);
    const payload = part(inbox, 5, 5 + numberAt(inbox, 1));
    inbox = part(inbox, 5 + payload.length);
    // Handled after this callback, because a termination may end the callback; in order of arrival.
    if (type === 'h') setImmediate(accept, payload);
    else if (type === 'V') setImmediate(setVariables, textOf(payload, 0, payload.length));
    else if (type === 'E') setImmediate(take, readRun(payload));
    else if (type === 'I') {
      wasInterrupted = true;
      setImmediate(interrupt);
    }
    else if (type === 'w') sendFrame('Y'); // no library to import
  }
  return true;
};
control.emit = (name) => {
  if (name === 'error' || name === 'close') reallyExit(0);
  return true;
};
control.resume();
// Hides the kernel's modules from the program. The kernel loads none of them later.
module.children.length = 0;
for (const name of Object.keys(require.cache)) if (name !== __filename) delete require.cache[name];
install();
process._getActiveHandles = () => getHandles().filter((each) => !isOurs(ours, each));
syncBuiltinESMExports();
process.chdir('/workspace');
introduce();
sendFrame('Y');
