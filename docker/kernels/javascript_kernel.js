// SPDX-License-Identifier: MIT
// The JavaScript kernel: runs in a sandbox, speaks frames on descriptor 3 with the supervisor. Code is evaluated by V8's own
// REPL mode: state persists, let and const may be declared again, await works at the top. What arrives is what runs; TypeScript
// is what runs once its types are taken away.
'use strict';
const fs = require('fs');
const inspector = require('inspector');
const { createRequire } = require('module');
const net = require('net');
const path = require('path');
const util = require('util');
const { pathToFileURL } = require('url');

const RUN_HEAD = 40;
const CONTROL = 3;
const control = new net.Socket({ fd: CONTROL, readable: true, writable: true });

// Frames leave synchronously: what was printed must be out before the process can end.
function sendFrame(type, payload = Buffer.alloc(0)) {
  const head = Buffer.alloc(5);
  head.writeUInt8(type.charCodeAt(0), 0);
  head.writeUInt32LE(payload.length, 1);
  let data = Buffer.concat([head, payload]);
  while (data.length > 0) {
    try {
      data = data.subarray(fs.writeSync(CONTROL, data));
    } catch (error) {
      if (error.code !== 'EAGAIN') process.reallyExit(1);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

function replaceStream(stream, type) {
  stream.write = (chunk, encoding, callback) => {
    const data = Buffer.isBuffer(chunk) || chunk instanceof Uint8Array ? Buffer.from(chunk) : Buffer.from(String(chunk), typeof encoding === 'string' ? encoding : 'utf8');
    for (let at = 0; at < data.length; at += 1 << 20) sendFrame(type, data.subarray(at, at + (1 << 20)));
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
}
replaceStream(process.stdout, 'O');
replaceStream(process.stderr, 'e');

function sendBundle(type, bundle) {
  const parts = Object.entries(bundle).map(([mime, value]) => [mime, Buffer.isBuffer(value) ? value : Buffer.from(String(value))]);
  const listing = Buffer.from(JSON.stringify(parts.map(([mime, raw]) => [mime, raw.length])));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(listing.length, 0);
  sendFrame(type, Buffer.concat([size, listing, ...parts.map(([, raw]) => raw)]));
}

const magic = [['image/png', '89504e470d0a1a0a'], ['image/jpeg', 'ffd8ff'], ['image/gif', '47494638']];
function bundleOf(value) {
  if (Buffer.isBuffer(value) || value instanceof Uint8Array) {
    const raw = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    const found = magic.find(([, hex]) => raw.subarray(0, hex.length / 2).toString('hex') === hex);
    if (found) return { [found[0]]: raw };
  }
  return { 'text/plain': util.inspect(value, { colors: false, depth: 4 }) };
}

globalThis.require = createRequire('/workspace/');
globalThis.display = (value, mime) => sendBundle('D', mime ? { [mime]: value } : bundleOf(value));

// Lines of a text, without its middle when they would have more than so many bytes as JSON: the supervisor ends whoever says more
// than a frame may hold.
function cut(text, most) {
  for (let keep = most; ; keep >>= 1) {
    const lines = (text.length <= keep ? text : `${text.slice(0, keep >> 1)}\n...\n${text.slice(-(keep >> 1))}`).split('\n');
    if (Buffer.byteLength(JSON.stringify(lines)) <= most) return lines;
  }
}

function describe(error) {
  const isError = error instanceof Error || (error && typeof error.stack === 'string');
  const text = isError ? String(error.stack) : util.inspect(error);
  const lines = text.split('\n').filter((line) => !/javascript_kernel\.js|node:internal|node:inspector|at new Promise \(<anonymous>\)/.test(line));
  const ename = isError && error.name ? String(error.name) : 'Error';
  const evalue = isError ? String(error.message) : util.inspect(error);
  return { ename: cut(ename, 1000)[0], evalue: cut(evalue.slice(0, 8000), 64000).join('\n'), traceback: cut(lines.join('\n'), 120000) };
}

// --- TypeScript: only where the supervisor asks for it, as loading the compiler takes a while -----------------------------------
const compiler = process.argv[2] === 'typescript' ? require('/codebox/typescript.js') : null;

// `import x = require('y')` would vanish from what is no CommonJS module.
function importsAsConstants(context) {
  const { factory } = context;
  const rewrite = (node) => {
    if (!compiler.isImportEqualsDeclaration(node) || node.isTypeOnly || !compiler.isExternalModuleReference(node.moduleReference)) return node;
    const call = factory.createCallExpression(factory.createIdentifier('require'), undefined, [node.moduleReference.expression]);
    return factory.createVariableStatement(undefined, factory.createVariableDeclarationList([factory.createVariableDeclaration(node.name, undefined, undefined, call)], compiler.NodeFlags.Const));
  };
  return (file) => factory.updateSourceFile(file, file.statements.map(rewrite));
}

function withoutTypes(code) {
  const { ModuleKind, ScriptTarget, transpileModule } = compiler;
  const { outputText, diagnostics } = transpileModule(code, {
    fileName: 'cell.ts',
    reportDiagnostics: true,
    transformers: { before: [importsAsConstants] },
    compilerOptions: { target: ScriptTarget.ES2022, module: ModuleKind.ESNext, experimentalDecorators: true },
  });
  if (diagnostics.length > 0) {
    const lines = diagnostics.map(({ file, start, messageText }) => `line ${file.getLineAndCharacterOfPosition(start).line + 1}: ${compiler.flattenDiagnosticMessageText(messageText, '\n')}`);
    const error = new SyntaxError(lines[0]);
    error.stack = lines.map((line) => `SyntaxError: ${line}`).join('\n');
    throw error;
  }
  return outputText.replace(/^export \{\};\s*$/m, ''); // what it says where only types were imported
}

let current = null; // the run that is under way: {fail(error)}
function sendError(error) {
  let body;
  try {
    body = describe(error);
  } catch (broken) {
    body = { ename: 'Error', evalue: '(its text cannot be read)', traceback: [] };
  }
  sendFrame('X', Buffer.from(JSON.stringify(body)));
}

const session = new inspector.Session();
session.connect();
// The value that was evaluated, fetched by its handle through a function of ours: the protocol itself only describes it.
let fetched;
globalThis.__codebox_take__ = undefined;
Object.defineProperty(globalThis, '__codebox_take__', { value: (value) => { fetched = value; }, enumerable: false, writable: false, configurable: false });

function post(method, parameters) {
  return new Promise((resolve, reject) => session.post(method, parameters, (error, result) => (error ? reject(new Error(error.message)) : resolve(result))));
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
  await post('Runtime.callFunctionOn', { objectId: remote.objectId, functionDeclaration: 'function () { __codebox_take__(this); }', silent: true });
  const value = fetched;
  fetched = undefined;
  return value;
}

let count = 0;
const isModule = (code) => /^\s*(import\s*[\w*{'"]|export\s)/m.test(code);

async function evaluate(code) {
  count++;
  const reply = await post('Runtime.evaluate', { expression: code, replMode: true, awaitPromise: true, silent: true, userGesture: true });
  if (reply.exceptionDetails) {
    const details = reply.exceptionDetails;
    const error = details.exception ? await valueOf(details.exception) : new Error(details.text);
    // Static imports and exports make it a module: that is run as a file, whose names stay its own.
    if (error instanceof SyntaxError && isModule(code)) return evaluateModule(code);
    throw error;
  }
  return valueOf(reply.result);
}

async function evaluateModule(code) {
  const file = path.join('/tmp', `program-${process.pid}-${count}.mjs`);
  fs.writeFileSync(file, code);
  try {
    await import(pathToFileURL(file).href);
  } finally {
    fs.rmSync(file, { force: true });
  }
  return undefined;
}

async function run(language, code) {
  let status = 0;
  let fail;
  const failed = new Promise((resolve, reject) => { fail = reject; });
  failed.catch(() => {});
  current = { fail };
  try {
    const value = await Promise.race([evaluate(compiler === null ? code : withoutTypes(code)), failed]);
    if (value !== undefined) sendBundle('R', bundleOf(value));
    // As under node itself, the program ends when nothing is left to do: timers and promises are its last statements too. Our
    // own socket must not count as something to do.
    control.unref();
    await Promise.race([new Promise((resolve) => process.once('beforeExit', resolve)), failed]);
    status = (Number(process.exitCode) || 0) & 255;
  } catch (error) {
    status = 1;
    sendError(error);
  }
  control.ref();
  current = null;
  process.exitCode = undefined;
  const code4 = Buffer.alloc(4);
  code4.writeInt32LE(status, 0);
  sendFrame('F', code4);
}

function onError(error) {
  if (current) current.fail(error);
  else sendFrame('e', Buffer.from(util.inspect(error) + '\n'));
}
process.on('uncaughtException', onError);
process.on('unhandledRejection', onError);
process.on('SIGINT', () => {
  const error = new Error('the program was interrupted');
  error.name = 'Interrupted';
  error.stack = 'Interrupted: the program was interrupted';
  onError(error);
});

let inbox = Buffer.alloc(0);
let queue = Promise.resolve();
control.on('data', (chunk) => {
  inbox = inbox.length ? Buffer.concat([inbox, chunk]) : chunk;
  while (inbox.length >= 5 && inbox.length >= 5 + inbox.readUInt32LE(1)) {
    const size = inbox.readUInt32LE(1);
    const type = String.fromCharCode(inbox[0]);
    const payload = inbox.subarray(5, 5 + size);
    inbox = inbox.subarray(5 + size);
    if (type !== 'E') continue;
    const language = payload.subarray(24, RUN_HEAD).toString('utf8').replace(/\0.*$/s, '');
    const code = payload.subarray(RUN_HEAD).toString('utf8');
    queue = queue.then(() => run(language, code));
  }
});
control.on('end', () => process.reallyExit(0));
process.chdir('/workspace');
sendFrame('Y');
