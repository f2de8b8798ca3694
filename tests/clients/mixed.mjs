// SPDX-License-Identifier: MIT
// One `codebox serve`, two frontends and hostile use: sessions opened over REST and used over MCP
// and vice versa, simultaneous calls, ids of other servers, huge arguments, a killed executor, a
// restart.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { audit, check, finish, must, records, rejection, server, startServe, stopServe, text } from './checks.mjs';

let serve, client;
async function start() {
  serve = await startServe('--stop-timeout', '1');
  client = new Client({ name: 'codebox-tests', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new StreamableHTTPClientTransport(serve.mcp));
}
await start();
const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
const execute = (session, code, more) => call('execute_code', { session, code, ...more });
const rest = async (method, path, body) => {
  const response = await fetch(serve.url + path, { method, body: body === undefined ? undefined : JSON.stringify(body), headers: { 'Content-Type': 'application/json' } });
  const reply = await response.text();
  return { status: response.status, body: reply.startsWith('{') ? JSON.parse(reply) : reply };
};
async function restRun(session, code) {
  const { body } = await rest('POST', '/execute', { session_id: session, code });
  for (let i = 0; i < 200; i++) {
    const { body: { status } } = await rest('GET', `/execute/${body.request_id}/status`);
    if (status === 'completed' || status === 'error') break;
    await sleep(100);
  }
  return (await rest('GET', `/execute/${body.request_id}/results`)).body;
}
const outputs = (result) => JSON.stringify(result);

let ofRest, ofMcp;
await check('a session that was opened over REST has its variables and files over MCP', async () => {
  ofRest = (await rest('POST', '/sessions', {})).body.session_id;
  const first = await restRun(ofRest, 'x = 20\nopen("r.txt", "w").write("by REST")');
  const second = await execute(ofRest, 'x += 22\nopen("m.txt", "w").write("by MCP")\nprint(x)');
  must(second.structuredContent?.stdout === '42\n', { first, second });
  must((await call('read_file', { session: ofRest, path: 'r.txt' })).structuredContent.text === 'by REST', 'r.txt');
});
await check('and what MCP did in it is seen over REST', async () => {
  const result = await restRun(ofRest, 'print(x + 1)');
  must(outputs(result).includes('43'), result);
  must((await rest('GET', `/v1/sessions/${ofRest}/files/m.txt`)).body === 'by MCP', 'm.txt');
});
await check('a session that was opened over MCP is used and listed over REST', async () => {
  ofMcp = (await execute('new', 'y = "of MCP"')).structuredContent.session;
  const result = await restRun(ofMcp, 'print(y)');
  must(outputs(result).includes('of MCP'), result);
  must(outputs((await rest('GET', '/v1/sessions')).body).includes(ofMcp), 'not listed');
});
await check('a program over REST cannot use what a denied one over MCP would have imported', async () => {
  must((await execute(ofRest, 'import subprocess as s')).isError, 'not denied');
  must(outputs(await restRun(ofRest, 's.run(["id"])')).includes('NameError'), 's is there');
});
await check('what a session holds counts for the other frontend: a name bound over REST is known to the policy over MCP', async () => {
  await restRun(ofRest, 'import os as operating');
  const denied = await execute(ofRest, 'operating.system("id")');
  must(denied.isError && denied.structuredContent.status === 'denied', denied);
});
await check('forty calls at once in one session, by both frontends, each run once and one after the other', async () => {
  await execute(ofMcp, 'n = 0');
  const step = 'v = n\nimport time\ntime.sleep(0.01)\nn = v + 1\nprint(n)';
  const jobs = Array.from({ length: 20 }, () => [execute(ofMcp, step).then((r) => r.structuredContent?.stdout ?? text(r)), restRun(ofMcp, step).then(outputs)]).flat();
  const all = await Promise.all(jobs);
  const end = await execute(ofMcp, 'print(n)');
  must(end.structuredContent.stdout === '40\n', { end: end.structuredContent, all });
  must(new Set(all.filter((_, i) => i % 2 === 0)).size === 20, all);
});
await check('ids that are no session of this server are results that say so, whatever they look like', async () => {
  const other = crypto.randomUUID();
  for (const id of [other, ofMcp.toUpperCase() + 'x', `${ofMcp}/../${ofRest}`, `${ofMcp}\u0000`, '../..', '%2e%2e', ' ', 'a'.repeat(64), 'NEW']) {
    const result = await execute(id, 'print(1)');
    must(result.isError && result.structuredContent?.stdout === undefined, { id, result });
  }
  must((await execute('a'.repeat(5000000), '1')).isError, 'five million letters');
});
await check('a session is known to its own gateway alone, also beside another one with the same state directory', async () => {
  const beside = new Client({ name: 'beside', version: '1' });
  await beside.connect(new StdioClientTransport(server));
  const ask = (session, code) => beside.callTool({ name: 'execute_code', arguments: { session, code } });
  const { session } = (await ask('new', 'w = 1')).structuredContent;
  must((await ask(ofMcp, 'print(y)')).isError, 'over stdio the session of HTTP');
  must((await execute(session, 'print(w)')).isError, 'over HTTP the session of stdio');
  must((await rest('GET', `/v1/sessions/${session}`)).status === 404, 'over REST the session of stdio');
  must((await ask(session, 'w')).structuredContent.result === '1\n', 'its own');
  await beside.close();
});
await check('paths that lead out of the working directory are refused', async () => {
  for (const path of ['../x', '/etc/passwd', 'a/../../x', 'session://../etc/passwd', `session://${ofMcp}/files/..%2f..%2fetc%2fpasswd`, `session://${ofMcp}/files//etc/passwd`, 'file:///etc/passwd', 'a\u0000b', 'p'.repeat(4096)]) {
    const read = await call('read_file', { session: ofMcp, path });
    must(read.isError && !text(read).includes('root:'), { path, read });
    must((await call('write_file', { session: ofMcp, path, text: 'x' })).isError, { path });
  }
});
await check('huge and deep arguments are answered, and the server still works', async () => {
  const huge = await call('execute_code', { code: `x = "${'a'.repeat(3000000)}"` }).catch((error) => ({ isError: true, error }));
  must(huge.isError, huge);
  let deep = 1;
  for (let i = 0; i < 5000; i++) deep = [deep];
  must((await call('execute_code', { code: '1', dependencies: deep }).catch((error) => ({ isError: true, error }))).isError, 'deep');
  must((await call('execute_code', { code: '1', dependencies: Array(100000).fill('numpy') })).isError, 'many');
  must((await execute(ofMcp, 'print(y)')).structuredContent.stdout === 'of MCP\n', 'the session');
});
await check('a session that REST closes while MCP runs in it ends that call soon', async () => {
  const { session } = (await execute('new', 'z = 1')).structuredContent;
  const running = execute(session, 'while True: pass').catch((error) => ({ isError: true, error }));
  await sleep(1000);
  const began = Date.now();
  must((await rest('DELETE', `/sessions/${session}`)).status < 300, 'DELETE');
  const result = await running;
  must(result.isError && Date.now() - began < 10000, { ms: Date.now() - began, result });
  must((await execute(session, 'z')).isError, 'it is still there');
});
await check('while the executor is killed a call gets an answer, and afterwards both frontends work', async () => {
  const running = execute(ofMcp, 'import time\ntime.sleep(2)\nprint("after")').catch((error) => ({ isError: true, error }));
  await sleep(700);
  const pids = execFileSync('pgrep', ['-P', String(serve.child.pid)], { encoding: 'utf8' }).trim().split('\n');
  const executor = pids.find((pid) => execFileSync('ps', ['-o', 'comm=', '-p', pid], { encoding: 'utf8' }).includes('executor'));
  must(executor !== undefined, pids);
  process.kill(Number(executor), 'SIGKILL');
  const result = await running;
  must(result.structuredContent?.stdout === 'after\n' || result.isError, result);
  let again;
  for (let i = 0; i < 50; i++) {
    again = await execute(ofMcp, 'print(y)').catch((error) => ({ error: String(error) }));
    if (again.structuredContent?.stdout === 'of MCP\n') break;
    await sleep(200);
  }
  must(again.structuredContent?.stdout === 'of MCP\n', again);
  must(outputs(await restRun(ofMcp, 'print(y)')).includes('of MCP'), 'REST');
});
for (const signal of ['SIGTERM', 'SIGKILL']) {
  await check(`after ${signal} and a new start the sessions of both frontends have their variables and files`, async () => {
    await client.close();
    await stopServe(serve, signal);
    await start();
    must((await execute(ofMcp, 'print(y)')).structuredContent?.stdout === 'of MCP\n', text(await execute(ofMcp, 'print(y)')));
    must((await execute(ofRest, 'print(x)')).structuredContent?.stdout === '42\n', text(await execute(ofRest, 'print(x)')));
    must((await call('read_file', { session: ofRest, path: 'r.txt' })).structuredContent.text === 'by REST', 'r.txt');
    const denied = await execute(ofRest, 'operating.system("id")');
    must(denied.structuredContent?.status === 'denied', denied);
  });
}
await check('of a program that a restart finds running the call tells the id, by which both frontends read its result afterwards', async () => {
  const running = execute(ofMcp, 'import time\ntime.sleep(4)\nprint("survived")');
  await sleep(1000);
  await stopServe(serve);
  const [id] = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text(await running)) ?? [];
  must(id !== undefined, text(await running));
  await client.close();
  await start();
  must((await call('read_file', { path: `sandbox://executions/${id}` })).structuredContent?.stdout === 'survived\n', id);
  must(outputs((await rest('GET', `/v1/executions/${id}`)).body).includes('survived'), 'REST');
});
await check('each decision stands once in the audit log, and tells the frontend that asked', async () => {
  const decisions = records().filter((r) => r.type === 'decision').map((r) => r.body);
  must(new Set(decisions.map((d) => d.id)).size === decisions.length, 'an id stands twice');
  const origins = new Set(decisions.filter((d) => d.session === ofMcp).map((d) => d.origin));
  must(origins.has('mcp') && origins.has('rest'), [...origins]);
});
await check('the log verifies once the killed processes are acknowledged', async () => {
  await client.close();
  must((await stopServe(serve)) === 0, serve.log());
  if (await rejection((async () => audit('verify'))())) {
    audit('acknowledge', '--reason', 'processes were killed by the test');
    audit('verify');
  }
});
finish();
