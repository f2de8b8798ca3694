// SPDX-License-Identifier: MIT
// Two principals with tokens of one gateway: over every route of /openapi.json, and over MCP, the
// objects of one do not exist for the other. The status and body for such an object must equal
// those for an unused id.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { check, codebox, finish, must, startServe, state, stopServe } from './checks.mjs';

const makeToken = (principal) => execFileSync(codebox, ['token', 'create', '--state', state, '--principal', principal], { stdio: ['ignore', 'pipe', 'ignore'] }).toString().trim();
const tokens = { ann: makeToken('ann'), bob: makeToken('bob') };
const server = await startServe();
const api = await (await fetch(new URL('/openapi.json', server.url))).json();

async function call(who, method, target, body, more = {}) {
  const headers = { ...more };
  if (who) headers.Authorization = `Bearer ${tokens[who] ?? who}`;
  if (body !== undefined && !(body instanceof Uint8Array)) headers['Content-Type'] = 'application/json';
  const answer = await fetch(new URL(target, server.url), { method, headers, body: body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body) });
  const text = await answer.text();
  return { status: answer.status, text, json: text.startsWith('{') ? JSON.parse(text) : undefined, headers: answer.headers };
}
const must_be = (status, answer) => { must(answer.status === status, `${answer.status} ${answer.text.slice(0, 300)}`); return answer.json; };

// The objects of ann: a session with a file and an execution, a running execution, one-shots, a
// session of the other API.
const session = must_be(201, await call('ann', 'POST', '/v1/sessions', { language: 'python' })).session_id;
must_be(201, await call('ann', 'PUT', `/v1/sessions/${session}/files/secret.txt`, new TextEncoder().encode('of ann')));
const ended = must_be(200, await call('ann', 'POST', '/v1/executions', { session_id: session, code: 'x = "of ann"\nprint(x)' })).execution_id;
const runs = must_be(202, await call('ann', 'POST', '/v1/executions', { language: 'python', code: 'import time\nprint("of ann")\ntime.sleep(60)', async: true })).execution_id;
const legacy = must_be(200, await call('ann', 'POST', '/sessions', {})).session_id;
const request = must_be(200, await call('ann', 'POST', '/execute', { session_id: legacy, code: 'print("of ann")' })).request_id;
const decision = must_be(200, await call('ann', 'GET', `/v1/executions/${ended}`)).decision;
const ids = [session, legacy, ended, runs, request, decision];

// A body that each operation accepts.
const bodies = {
  'POST /execute': (id) => ({ session_id: id, code: 'print(x)' }),
  'POST /v1/executions': (id) => ({ session_id: id, code: 'print(x)' }),
  'POST /v1/executions/{id}/input': () => ({ text: 'x' }),
  'PUT /v1/sessions/{id}/files/{path}': () => new TextEncoder().encode('of bob'),
};
const operations = Object.entries(api.paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => [method.toUpperCase(), path]))
  .filter(([method, path]) => path.includes('{id}') || bodies[`${method} ${path}`]);
// Ids and numbers of requests differ between callers.
const shape = ({ status, text }, id) => `${status} ${text.replaceAll(id, 'ID').replace(/"audit_seq":\d+/g, '')}`;

await check(`what ann has does not exist for bob, in ${operations.length} operations`, async () => {
  must(operations.length >= 14, operations);
  for (const [method, path] of operations) {
    for (const id of ids) {
      for (const file of path.includes('{path}') ? ['secret.txt', ''] : ['']) {
        const target = (id) => path.replace('{id}', id).replace('{path}', file);
        const body = (id) => bodies[`${method} ${path}`]?.(id);
        const none = randomUUID();
        const [asked, absent] = [await call('bob', method, target(id), body(id)), await call('bob', method, target(none), body(none))];
        must(shape(asked, id) === shape(absent, none), `${method} ${target(id)} gives ${shape(asked, id)}, an id that nobody has gives ${shape(absent, none)}`);
        must(!asked.text.includes('of ann'), `${method} ${target(id)} gives ${asked.text}`);
      }
    }
  }
});

await check('lists have what is the caller\'s alone', async () => {
  must(must_be(200, await call('bob', 'GET', '/v1/sessions')).sessions.length === 0, 'bob sees sessions');
  const own = must_be(200, await call('ann', 'GET', '/v1/sessions')).sessions.map((s) => s.session_id).sort();
  must(own.join() === [session, legacy].sort().join(), own);
  must_be(200, await call('bob', 'POST', '/v1/check', { language: 'python', code: 'of_bob = 1' }));
  const decisions = must_be(200, await call('bob', 'GET', '/v1/decisions')).decisions;
  must(decisions.length > 0 && decisions.every((d) => d.principal === 'bob'), decisions);
  must(must_be(200, await call('ann', 'GET', '/v1/decisions')).decisions.some((d) => d.id === decision), 'the decision of ann');
  const history = await call('bob', 'GET', `/v1/sessions/${session}/history`);
  must(!history.text.includes('of ann'), history.text);
});

await check('nothing that bob tried has changed what ann has', async () => {
  must((await call('ann', 'GET', `/v1/sessions/${session}/files/secret.txt`)).text === 'of ann', 'the file');
  must(must_be(200, await call('ann', 'POST', '/v1/executions', { session_id: session, code: 'print(x)' })).output[0].text === 'of ann\n', 'the variable');
  must(must_be(200, await call('ann', 'GET', `/v1/executions/${runs}`)).status === 'running', 'the run');
  must(must_be(200, await call('ann', 'GET', `/v1/sessions/${session}/history`)).executions.length === 2, 'the history');
});

await check('nobody does anything without a token, and routes that are public say nothing', async () => {
  for (const [path, methods] of Object.entries(api.paths)) {
    const open = ['/healthz', '/livez', '/readyz', '/openapi.json', '/docs'].includes(path);
    for (const [name, operation] of Object.entries(methods)) {
      must((operation.security?.length === 0) === open, `${name} ${path}: the description says otherwise`);
      const method = name.toUpperCase(), target = path.replace('{id}', session).replace('{path}', 'secret.txt');
      for (const who of [null, 'cbx_000000000000_0000000000000000000000000000000000000000000', `${tokens.ann.slice(0, -1)}_`, 'x.y.z']) {
        const answer = await call(who, method, target, method === 'GET' || method === 'DELETE' ? undefined : {});
        must(open ? answer.status === 200 : answer.status === 401 && answer.headers.get('www-authenticate').startsWith('Bearer'), `${method} ${target} as ${who}: ${answer.status} ${answer.text}`);
        must(!answer.text.includes(session) && !answer.text.includes('docker'), answer.text.slice(0, 200));
      }
    }
  }
});

// --- MCP over the same server
let rpc = 0;
const tool = async (who, name, args) => (await call(who, 'POST', '/mcp', { jsonrpc: '2.0', id: ++rpc, method: 'tools/call', params: { name, arguments: args } }, { Accept: 'application/json, text/event-stream' }));
const result_of = (answer) => JSON.stringify((answer.json ?? JSON.parse(/data: (.*)/.exec(answer.text)[1])).result ?? answer.text);

await check('over MCP what ann has does not exist for bob either', async () => {
  for (const id of [session, legacy]) {
    for (const [name, args] of [['execute_code', { code: 'print(x)', session: id }], ['read_file', { path: 'secret.txt', session: id }], ['write_file', { path: 'a.txt', text: 'of bob', session: id }], ['close_session', { session: id }]]) {
      const none = randomUUID();
      const asked = result_of(await tool('bob', name, args)), absent = result_of(await tool('bob', name, { ...args, session: none }));
      must(asked.replaceAll(id, 'ID') === absent.replaceAll(none, 'ID') && asked.includes('"isError":true'), `${name}: ${asked} and ${absent}`);
    }
  }
  for (const uri of [`session://${session}`, `session://${session}/files/secret.txt`, `sandbox://executions/${ended}`, `sandbox://executions/${runs}`]) {
    const read = await call('bob', 'POST', '/mcp', { jsonrpc: '2.0', id: ++rpc, method: 'resources/read', params: { uri } });
    must(read.json.error !== undefined && !read.text.includes('of ann'), `${uri}: ${read.text}`);
  }
  const list = await call('bob', 'POST', '/mcp', { jsonrpc: '2.0', id: ++rpc, method: 'resources/read', params: { uri: 'sessions://' } });
  must(!list.text.includes(session), list.text);
  must((await call(null, 'POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' })).status === 401, 'MCP without a token');
});

await check('bob has a session of his own by it', async () => {
  const result = result_of(await tool('bob', 'execute_code', { code: 'print(6 * 7)', session: 'new' }));
  must(result.includes('42') && !result.includes('"isError":true'), result);
  must(must_be(200, await call('bob', 'GET', '/v1/sessions')).sessions.length === 1, 'it is not listed');
});

await check('the audit log has who did what', async () => {
  await call('ann', 'POST', `/v1/executions/${runs}/cancel`);
  const records = readFileSync(`${state}/audit.jsonl`, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  const decisions = records.filter((r) => r.type === 'decision');
  must(decisions.every((r) => ['ann', 'bob'].includes(r.body.principal)), 'another principal');
  must(decisions.filter((r) => r.body.session === session).every((r) => r.body.principal === 'ann'), 'bob in the session of ann');
});

must((await stopServe(server)) === 0, 'the end of the server');
finish();
