// SPDX-License-Identifier: MIT
// Checks for every client, whatever its protocol. A check is one sentence; the first failing line
// is printed.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export const [, , codebox, state, transport = 'stdio'] = process.argv;
export const overHttp = transport === 'http';
let failures = 0;

export const server = { command: codebox, args: ['mcp', '--state', state], stderr: 'inherit' };

// Starts `codebox serve` on a free port. Returns its process and its URL.
export async function startServe(...options) {
  const child = spawn(codebox, ['serve', '--state', state, '--listen', '127.0.0.1:0', '--log-level', 'info', ...options], { stdio: ['ignore', 'inherit', 'pipe'] });
  let log = '';
  const url = await new Promise((resolve, reject) => {
    child.stderr.on('data', (data) => {
      log += data;
      const serving = /serving on (http:[^,\s]*),/.exec(log);
      if (serving) resolve(serving[1]);
    });
    child.once('exit', () => reject(new Error(log)));
  });
  return { child, url, mcp: new URL('/mcp', url), log: () => log };
}

export async function stopServe({ child }, signal = 'SIGTERM') {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill(signal);
    await once(child, 'exit');
  }
  return child.exitCode ?? child.signalCode;
}

export async function check(sentence, body) {
  try {
    await body();
    console.log(`ok      ${sentence}`);
  } catch (error) {
    failures++;
    console.log(`FAILED  ${sentence}: ${error.message}`);
  }
}

export function must(condition, found) {
  if (!condition) throw new Error(typeof found === 'string' ? found : JSON.stringify(found));
}

export function finish() {
  process.exit(failures === 0 ? 0 : 1);
}

export const text = (result) => result.content.filter((c) => c.type === 'text').map((c) => c.text).join('');
export const firstLine = (result) => text(result).split('\n')[0];
export const audit = (...args) => execFileSync(codebox, ['audit', ...args, '--state', state], { encoding: 'utf8' });

// Resolves to the reason of a rejection. Never rejects itself, so it may be awaited late.
export const rejection = (promise) => promise.then(() => undefined, (error) => error);

async function checkRuns(call) {
  await check('Python runs, and its output and last value come back', async () => {
    const result = await call('run_python_code', { code: 'print("hello", 6 * 7)\n1 + 1' });
    must(!result.isError && firstLine(result) === 'ok', result);
    must(result.structuredContent.stdout === 'hello 42\n' && text(result).includes('hello 42'), result);
    must(result.structuredContent.result.trim() === '2', result);
  });
  await check('a matplotlib figure comes back as a PNG', async () => {
    const result = await call('execute_code', { code: 'import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()' });
    const image = result.content.find((c) => c.type === 'image');
    must(!result.isError && image?.mimeType === 'image/png', text(result));
    must(Buffer.from(image.data, 'base64').subarray(0, 8).toString('hex') === '89504e470d0a1a0a', 'no PNG signature');
    must(result.structuredContent === undefined, 'some clients hand on the structured part and drop the picture');
  });
  await check('JavaScript runs, by its own tool and by execute_code', async () => {
    const code = 'console.log([1, 2, 3].map((n) => n * n).join())';
    for (const result of [await call('run_javascript_code', { code }), await call('execute_code', { code, language: 'javascript' })]) {
      must(!result.isError && result.structuredContent.stdout === '1,4,9\n', result);
    }
  });
  await check('a program that fails is a result, not an error: exit code and traceback are there', async () => {
    const result = await call('run_python_code', { code: 'print("before")\nraise ValueError("no \\x1b[31mred")' });
    must(!result.isError && firstLine(result) === 'exit code 1', result);
    must(result.structuredContent.exit_code === 1 && result.structuredContent.status === 'error', result);
    must(text(result).includes('before') && text(result).includes('ValueError: no red') && !text(result).includes('\x1b'), result);
  });
  await check('a program over its time is stopped, and that is an error', async () => {
    const result = await call('execute_code', { code: 'print("early", flush=True)\nwhile True: pass', timeout_seconds: 1 });
    must(result.isError && result.structuredContent.status === 'timeout' && text(result).includes('early'), result);
  });
  await check('four calls at once all come back with their own output', async () => {
    const results = await Promise.all([1, 2, 3, 4].map((n) => call('run_python_code', { code: `print(${n} * 1000)` })));
    results.forEach((result, i) => must(result.structuredContent.stdout === `${i + 1}000\n`, result));
  });
}

async function checkSessions(call) {
  let session, picture;
  await check('a session keeps variables and files over calls', async () => {
    const first = await call('execute_code', { session: 'new', code: 'import matplotlib.pyplot as plt\nx = 20\nopen("out.csv", "w").write("a,b\\n1,2\\n")\nplt.plot([1])\nplt.show()' });
    [, session] = /^session (\S+) keeps/m.exec(text(first));
    [, picture] = /^\[picture 1: PNG \d+x\d+, [\d.]+ (?:bytes|kB|MB), (sandbox:\S+)\]$/m.exec(text(first));
    must(/^\[file out\.csv, 8 bytes, text\/csv[^,]*, session:\S+\/files\/out\.csv\]$/m.test(text(first)) && !first.content.some((c) => c.type === 'resource_link'), first);
    must((await call('execute_code', { session, code: 'x += 22\nprint(x)' })).structuredContent.stdout === '42\n', 'x is not kept');
  });
  await check('files and pictures are read by the URIs of an answer, and written', async () => {
    for (const name of ['sandbox_read_file', 'read_file']) must((await call(name, { session, path: 'out.csv' })).structuredContent.text === 'a,b\n1,2\n', name);
    must((await call('read_file', { path: picture })).content.some((c) => c.type === 'image'), picture);
    must(!(await call('write_file', { session, path: 'm.py', text: 'def f():\n    return 7\n' })).isError, 'm.py');
    must((await call('execute_code', { session, code: 'import m\nm.f()' })).structuredContent.result === '7\n', 'm.f()');
    const denied = await call('write_file', { session, path: 'n.py', text: 'import subprocess\n' });
    must(denied.isError && firstLine(denied).startsWith('denied by policy rule py.process'), denied);
  });
  await check('a path may be long', async () => {
    const path = `${'d'.repeat(100)}/${'e'.repeat(150)}.txt`;
    must(!(await call('write_file', { session, path, text: 'hi' })).isError, 'not written');
    must((await call('read_file', { session, path })).structuredContent.text === 'hi', 'not read');
  });
  await check('of a long output both ends come back, and all of it can be read', async () => {
    const { structuredContent: shown } = await call('execute_code', { session, code: 'for i in range(20000): print("line", i)' });
    must(shown.stdout.length < 40000 && shown.stdout.includes('line 0\n') && shown.stdout.endsWith('line 19999\n'), shown.stdout.length);
    let all = '';
    for (let offset = 0; offset !== undefined;) {
      const piece = (await call('read_file', { path: `sandbox://executions/${shown.execution_id}/stdout`, offset })).structuredContent;
      all += piece.text;
      offset = piece.next_offset;
    }
    must(all === Array.from({ length: 20000 }, (_, i) => `line ${i}\n`).join(''), all.length);
  });
  await check('a session that was closed is gone', async () => {
    must(!(await call('close_session', { session })).isError, 'not closed');
    const gone = await call('execute_code', { session, code: 'x' });
    must(gone.isError && text(gone).includes('session "new" opens one'), gone);
  });
  await check('a check runs nothing; the policy tells what is allowed', async () => {
    must((await call('check_code', { code: 'print(1)' })).structuredContent.status === 'ok', 'print(1)');
    must((await call('check_code', { code: 'import socket' })).structuredContent.status === 'denied', 'import socket');
    must((await call('get_policy', {})).structuredContent.text.includes('py.process'), 'the policy');
  });
}

async function checkRefusals(call) {
  await check('a denial says the rule, the place, what was found, a hint, and that nothing ran', async () => {
    const result = await call('execute_code', { code: 'print("ran")\nimport subprocess\nsubprocess.run(["id"])' });
    must(result.isError && result.structuredContent.status === 'denied', result);
    must(firstLine(result) === 'denied by policy rule py.process; nothing ran', result);
    for (const part of ['line 2', 'subprocess', 'hint: ', `audit id ${result.structuredContent.audit_id}`]) must(text(result).includes(part), result);
    must(audit('tail').includes('py.process'), 'the audit log does not have it');
  });
  await check('bad arguments are results that say what is allowed', async () => {
    const cases = [
      [{}, "'code' is missing"], [{ code: 7 }, 'allowed is a string'], [{ code: '1', language: 'cobol' }, 'python, '],
      [{ code: '1', timeout_seconds: 0 }, 'allowed 1..3600'], [{ code: '1', langauge: 'python' }, "did you mean 'language'"],
      [{ code: '1', libraries: ['torch @ http://127.0.0.1/x.whl'] }, 'allowed is a package name'],
    ];
    for (const [args, part] of cases) {
      const result = await call('execute_code', args);
      must(result.isError && firstLine(result).startsWith('invalid: ') && text(result).includes(part), result);
    }
  });
  await check('half of a surrogate pair in the code is a result that names the argument; a whole pair runs', async () => {
    const half = await call('run_python_code', { code: 'print("\ud83d")' });
    must(half.isError && firstLine(half).startsWith("invalid: field 'code' has \\ud83d,"), half);
    const whole = await call('run_python_code', { code: 'print("\ud83d\ude00")' });
    must(!whole.isError && whole.structuredContent.stdout === '\ud83d\ude00\n', whole);
  });
  await check('libraries that are in the sandbox are accepted', async () => {
    must(!(await call('execute_code', { code: 'import numpy', libraries: ['numpy'] })).isError, 'refused');
  });
  await check('an unknown tool is error -32602', async () => {
    const error = await rejection(call('no_such_tool', {}));
    must(error?.code === -32602, String(error));
  });
}

export const records = () => readFileSync(`${state}/audit.jsonl`, 'utf8').trim().split('\n').map((line) => JSON.parse(line));

async function checkClaims(call, client) {
  await check('the audit log has what the client says of itself and of the call, as claims', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await call('run_python_code', { code: 'print("claims")' }, undefined, { traceparent, 'claudecode/toolUseId': 'toolu_42' });
    const { body } = records().filter((r) => r.type === 'decision').at(-1);
    must(body.claimed_client === client?.name && body.claimed_client_version === client?.version, body);
    must(body.claimed_trace === traceparent && body.claimed_tool_use === 'toolu_42' && /^\d+$/.test(body.claimed_request), body);
    must(body.principal === 'local' && body.origin === 'mcp', body);
  });
  await check('an outcome and a file of data have the claims of their calls', async () => {
    const meta = (use) => ({ 'claudecode/toolUseId': use });
    const session = (await call('execute_code', { session: 'new', code: 'print(1)' }, undefined, meta('toolu_run'))).structuredContent.session;
    await call('write_file', { session, path: 'a.csv', text: '1,2' }, undefined, meta('toolu_put'));
    await call('close_session', { session });
    const has = (type, use) => records().some((r) => r.type === type && r.body.claimed_tool_use === use && r.body.claimed_client === client?.name);
    const all = () => has('outcome', 'toolu_run') && has('upload', 'toolu_put');
    for (let i = 0; i < 50 && !all(); i++) await sleep(100); // the executor writes outcomes in batches, after the response
    must(all(), records().slice(-8).map((r) => [r.type, r.body.claimed_tool_use]));
  });
}

async function checkCancellation(call) {
  await check('cancelling stops an endless, silent loop', async () => {
    const controller = new AbortController();
    const promise = rejection(call('run_python_code', { code: 'while True: pass' }, { signal: controller.signal }));
    await sleep(1500);
    controller.abort('enough');
    must((await promise) !== undefined, 'the call was answered');
    const ended = () => /outcome +(killed|error)[^\n]*\n$/.test(audit('tail'));
    for (let i = 0; i < 100 && !ended(); i++) await sleep(100);
    must(ended(), audit('tail'));
  });
  await check('and the server still works', async () => {
    must((await call('run_python_code', { code: 'print(1)' })).structuredContent.stdout === '1\n', 'no');
  });
}

// `call(name, arguments, options, _meta)` resolves to a CallToolResult.
export async function checkServer(listTools, call) {
  await check('the tools are listed, with schemas and hints, in less than 8 kB', async () => {
    const { tools } = await listTools();
    must(tools.map((t) => t.name).join() === 'execute_code,run_python_code,run_javascript_code,check_code,sandbox_read_file,sandbox_write_file,close_session,get_policy', tools);
    must(tools.every((t) => t.inputSchema.type === 'object' && t.annotations.openWorldHint === false), tools);
    must(tools.every((t) => !t.outputSchema) && tools[0]._meta['anthropic/alwaysLoad'] === true && tools.every((t) => ['readOnlyHint', 'destructiveHint', 'idempotentHint'].every((h) => typeof t.annotations[h] === 'boolean')), tools);
    must(JSON.stringify(tools).length < 8192, `${JSON.stringify(tools).length} bytes`);
  });
  await checkRuns(call);
  await checkSessions(call);
  await checkRefusals(call);
  await checkClaims(call, { name: 'codebox-tests', version: '1' });
  await checkCancellation(call);
}

const stubborn = 'import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass';

export async function checkServeEnd(serve, close) {
  await close();
  await check('the audit log verifies while the gateway serves', async () => {
    audit('verify');
  });
  await check('the gateway ends on SIGTERM, and its audit log verifies', async () => {
    must((await stopServe(serve)) === 0, serve.log());
    audit('verify');
  });
}

// Clients send SIGTERM two seconds after they closed the input.
export async function checkEnd(close, call) {
  await check('the audit log verifies', async () => {
    audit('verify');
  });
  await check('the server ends when its input does, while a program runs that ignores signals', async () => {
    rejection(call('run_python_code', { code: stubborn }));
    await sleep(1500);
    const began = Date.now();
    await close();
    must(Date.now() - began < 1900, `${Date.now() - began} ms`);
  });
}
