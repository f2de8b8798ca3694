// SPDX-License-Identifier: MIT
// Approval by the official clients of both eras: the text that they show, the runs after each
// answer, and the records of the audit log. Over HTTP also clients that violate the protocol.
import { Client as HandshakeClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as HandshakeStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HandshakeHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as StatelessClient, StreamableHTTPClientTransport as StatelessHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as StatelessStdio } from '@modelcontextprotocol/client/stdio';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { audit, check, finish, firstLine, must, overHttp, records, rejection, server, startServe, state, stopServe, text } from './checks.mjs';

const policy = `${state}/asking.yaml`;
writeFileSync(policy, `version: 1
name: asking
extends: [default]
rules:
  - id: test.ask
    languages: [python]
    match: {import: [wave]}
    effect: ask
    message: Sound is only made when somebody agreed.
`);
const options = ['--policy', policy];
let serve = overHttp && (await startServe(...options));
const stdio = { ...server, args: [...server.args, ...options] };
const info = { name: 'an-editor', version: '3.1' };
const form = { elicitation: {} };

async function connectHandshake(answer, capabilities = form) {
  const client = new HandshakeClient(info, { capabilities });
  if (capabilities.elicitation) client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params));
  await client.connect(overHttp ? new HandshakeHttp(serve.mcp) : new HandshakeStdio(stdio));
  return { call: (args, more, name = 'execute_code') => client.callTool({ name, arguments: args }, undefined, more), client };
}
async function connectStateless(answer, capabilities = form) {
  const client = new StatelessClient(info, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  if (capabilities.elicitation) client.setRequestHandler('elicitation/create', ({ params }) => answer(params));
  await client.connect(overHttp ? new StatelessHttp(serve.mcp) : new StatelessStdio(stdio));
  return { call: (args, more, name = 'execute_code') => client.callTool({ name, arguments: args }, more), client };
}

const asking = 'import wave\nprint("ran", 6 * 7)';
const ofType = (type) => records().filter((r) => r.type === type);
const ran = () => ofType('approval').length;
const refused = (result, part) => {
  must(result.isError && result.structuredContent.status === 'needs-approval' && text(result).includes(part) && !text(result).includes('ran 42'), result);
};

// Checks for a client of any era. `connect` returns a client whose answers come from the function.
async function checkEra(era, connect) {
  const shown = [];
  let answer = () => ({ action: 'accept', content: {} });
  const { call, client } = await connect(async (params) => {
    shown.push(params);
    return answer(params);
  });
  let session;
  await check(`${era}: accepted, the program runs once, and the result says who accepted`, async () => {
    const result = await call({ code: asking });
    must(!result.isError && result.structuredContent.stdout === 'ran 42\n', result);
    must(text(result).includes('[approved: client an-editor 3.1 accepted]'), text(result));
    must(shown.length === 1, shown);
  });
  await check(`${era}: the question shows the rule, the place and the source, and asks for no field`, async () => {
    const [{ message, requestedSchema }] = shown;
    for (const part of ['Language: python. Session: none', 'Network: none.', 'Rules that ask: test.ask', 'Sound is only made', '    1 | import wave\n', '    2 | print("ran", 6 * 7)\n', 'All lines are shown.', 'SHA-256 ']) must(message.includes(part), message);
    must(Object.keys(requestedSchema.properties).length === 0 && !requestedSchema.required, requestedSchema);
  });
  await check(`${era}: the log has two decisions, and the approval between the second and its outcome`, async () => {
    const approval = ofType('approval').at(-1);
    const { body } = approval;
    const of = (id) => ofType('decision').find((r) => r.body.id === id);
    must(body.approved_by.client === info.name && body.approved_by.version === info.version && body.how === 'elicitation' && body.rules.join() === 'test.ask', body);
    must(of(body.asked).body.verdict === 'ask' && of(body.decision).body.verdict === 'ask' && of(body.asked).seq < of(body.decision).seq && of(body.decision).seq < approval.seq, body);
    must(of(body.decision).body.claimed_client === info.name, of(body.decision));
    const outcomes = (id) => ofType('outcome').filter((r) => r.body.decision === id);
    for (let i = 0; i < 50 && outcomes(body.decision).length === 0; i++) await sleep(100);
    must(outcomes(body.decision).length === 1 && outcomes(body.decision)[0].seq > approval.seq && outcomes(body.asked).length === 0, outcomes(body.decision));
    const tail = audit('tail', '--lines', '50');
    must(tail.includes('client an-editor 3.1 accepted test.ask (elicitation)') && !/human|person/.test(tail), tail);
  });
  for (const [action, words] of [
    ['decline', 'client an-editor 3.1 declined; nothing ran. Do not send it again unless the user asks for it'],
    ['cancel', 'client an-editor 3.1 dismissed the question; nothing ran. Call the tool again to have the client asked again'],
  ]) {
    await check(`${era}: ${action}: nothing runs, and the result says how approval is got`, async () => {
      const before = ran();
      answer = () => ({ action });
      const result = await call({ code: asking });
      refused(result, words);
      must(ran() === before, text(result));
    });
  }
  await check(`${era}: a call that ends while the client is asked runs nothing`, async () => {
    const before = ran();
    answer = () => sleep(2500).then(() => ({ action: 'accept', content: {} }));
    const controller = new AbortController();
    const cancelled = rejection(call({ code: asking }, { signal: controller.signal }));
    await sleep(1000);
    controller.abort('not needed');
    must((await cancelled) !== undefined, 'it was answered');
    await sleep(3000);
    must(ran() === before, 'it was approved');
  });
  await check(`${era}: a session is opened by an approved cell, and keeps what that left`, async () => {
    answer = () => ({ action: 'accept', content: {} });
    const opened = await call({ code: `${asking}\nx = 5`, session: 'new' });
    must(!opened.isError && opened.structuredContent.stdout === 'ran 42\n', opened);
    ({ session } = opened.structuredContent);
    const asked = shown.length;
    must((await call({ code: 'x += 1\nprint(x)', session })).structuredContent.stdout === '6\n' && shown.length === asked, 'x');
    const again = await call({ code: `${asking}\nx += 1\nprint(x)`, session });
    must(again.structuredContent.stdout === 'ran 42\n7\n' && shown.length === asked + 1, again);
    must(shown.at(-1).message.includes(`Session: ${session}, with`), shown.at(-1).message);
  });
  await check(`${era}: when the session changed before the answer, the client is asked again`, async () => {
    let rounds = 0;
    const asked = shown.length;
    answer = async () => {
      if (rounds++ === 0) must(!(await call({ code: 'x = 100', session })).isError, 'the other cell');
      return { action: 'accept', content: {} };
    };
    const result = await call({ code: `${asking}\nprint(x)`, session });
    must(!result.isError && result.structuredContent.stdout === 'ran 42\n100\n' && shown.length === asked + 2, { result, asked: shown.length - asked });
  });
  await check(`${era}: no session is left of a call that was not approved`, async () => {
    answer = () => ({ action: 'decline' });
    const opened = ofType('decision').filter((r) => r.body.action === 'open').length;
    refused(await call({ code: asking, session: 'new' }), 'declined');
    const last = ofType('decision').filter((r) => r.body.action === 'open');
    must(last.length === opened + 1, 'none was opened');
    const gone = await call({ code: '1', session: last.at(-1).body.session });
    must(gone.isError && text(gone).includes('there is no session'), gone);
  });
  await check(`${era}: text of the program cannot pass for the question`, async () => {
    const hostile = 'import wave\n\u001b[2JAll lines are shown.\u202e\n'.replace('\u001b', '# \u001b');
    await call({ code: hostile });
    const { message } = shown.at(-1);
    must(!/[\u0000-\u0008\u000b-\u001f\u202e]/.test(message) && /^ {4}2 \| # \\x1b\[2JAll lines/m.test(message), message);
  });
  await check(`${era}: what is denied is denied, and check_code asks nobody`, async () => {
    const asked = shown.length;
    answer = () => ({ action: 'accept', content: {} });
    must((await call({ code: 'import wave, subprocess' })).structuredContent.status === 'denied', 'subprocess');
    const checked = await call({ code: asking }, undefined, 'check_code');
    refused(checked, 'needs approval by policy rule test.ask; nothing ran');
    must(shown.length === asked, 'asked');
  });
  await check(`${era}: a client that closes while it is asked ends at once, and nothing runs`, async () => {
    const before = ran();
    answer = () => sleep(60000, undefined, { ref: false });
    rejection(call({ code: asking }));
    await sleep(1000);
    const began = Date.now();
    await client.close();
    must(Date.now() - began < 1500, `${Date.now() - began} ms`);
    must(ran() === before, 'it ran');
  });
  await check(`${era}: a client that did not declare elicitation is told what that takes`, async () => {
    for (const capabilities of overHttp ? [{}] : [{}, { elicitation: { url: {} } }]) {
      const other = await connect(() => must(false, 'asked'), capabilities);
      refused(await other.call({ code: asking }), 'it does not offer MCP elicitation');
      await other.client.close();
    }
  });
}

await checkEra('handshake', connectHandshake);
await checkEra('stateless', connectStateless);

/* --- a client that does not keep to the protocol ------------------------------------------------------------------------------------------- */

const meta = (capabilities = form) => ({ 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': capabilities, 'io.modelcontextprotocol/clientInfo': info });
let id = 0;

const post = (body, headers = {}) =>
  fetch(serve.mcp, { method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers }, body: JSON.stringify({ jsonrpc: '2.0', ...body }) });

async function callStateless(args, more = {}, { name = 'execute_code', capabilities } = {}) {
  const response = await post(
    { id: ++id, method: 'tools/call', params: { name, arguments: args, _meta: meta(capabilities), ...more } },
    { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': name },
  );
  return response.json();
}
const accept = (requestState) => ({ requestState, inputResponses: { approve: { action: 'accept' } } });
const question = async (args = { code: asking }) => {
  const { result } = await callStateless(args);
  must(result.resultType === 'input_required' && result.inputRequests.approve.params.mode === 'form', result);
  return result.requestState;
};
const isAskedAnew = ({ result }, before) => must(result?.resultType === 'input_required' && ran() === before, result);

async function checkHostileStates() {
  await check('a state is good for one run: the replay runs nothing', async () => {
    const sealed = await question();
    const first = await callStateless({ code: asking }, accept(sealed));
    must(first.result.structuredContent.stdout === 'ran 42\n', first);
    const before = ran();
    for (let i = 0; i < 2; i++) refused((await callStateless({ code: asking }, accept(sealed))).result, 'the question was answered before');
    must(ran() === before, 'it ran again');
  });
  await check('of eight parallel replays one runs', async () => {
    const sealed = await question();
    const before = ran();
    const results = await Promise.all(Array.from({ length: 8 }, () => callStateless({ code: asking }, accept(sealed))));
    must(results.filter(({ result }) => result.structuredContent.stdout === 'ran 42\n').length === 1 && ran() === before + 1, results);
  });
  await check('a question that was declined cannot be accepted later', async () => {
    const sealed = await question();
    refused((await callStateless({ code: asking }, { requestState: sealed, inputResponses: { approve: { action: 'decline' } } })).result, 'declined');
    refused((await callStateless({ code: asking }, accept(sealed))).result, 'answered before');
  });
  await check('with other code, another limit, session or tool, it is asked anew', async () => {
    const sealed = await question();
    const before = ran();
    isAskedAnew(await callStateless({ code: `${asking}\nprint(2)` }, accept(sealed)), before);
    isAskedAnew(await callStateless({ code: asking, timeout_seconds: 7 }, accept(sealed)), before);
    isAskedAnew(await callStateless({ code: asking, session: 'new' }, accept(sealed)), before);
    isAskedAnew(await callStateless({ code: asking }, accept(sealed), { name: 'run_python_code' }), before);
    const checked = await callStateless({ code: asking }, accept(sealed), { name: 'check_code' });
    must(checked.result.structuredContent.status === 'needs-approval' && ran() === before, checked);
  });
  await check('an answer without a state, and a state without an answer, are asked anew', async () => {
    const sealed = await question();
    const before = ran();
    isAskedAnew(await callStateless({ code: asking }, { inputResponses: { approve: { action: 'accept' } } }), before);
    isAskedAnew(await callStateless({ code: asking }, { requestState: sealed }), before);
    isAskedAnew(await callStateless({ code: asking }, { requestState: sealed, inputResponses: { other: { action: 'accept' } } }), before);
  });
  await check('a state that this server did not make, and an answer that is none, are errors', async () => {
    const sealed = await question();
    const before = ran();
    const flipped = sealed.slice(0, 80) + (sealed[80] === 'a' ? 'b' : 'a') + sealed.slice(81);
    const forged = [flipped, '', 'x', sealed + ' ', 7, { a: 1 }, '0'.repeat(64) + sealed.slice(64)].map((s) => accept(s));
    const malformed = [{ action: 5 }, {}, 'accept', null, [], { action: 'ACCEPT' }, { action: 'accept ' }].map((approve) => ({ requestState: sealed, inputResponses: { approve } }));
    for (const more of [...forged, ...malformed, { requestState: sealed, inputResponses: 'accept' }]) {
      const { error } = await callStateless({ code: asking }, more);
      must(error?.code === -32602, { more, error });
    }
    must(ran() === before, 'it ran');
  });
  await check('a session that was opened for the question, and closed before the answer: another one is opened, and it is asked anew', async () => {
    const args = { code: asking, session: 'new' };
    const sealed = await question(args);
    const { session } = ofType('decision').filter((r) => r.body.action === 'open').at(-1).body;
    must((await callStateless({ session }, {}, { name: 'close_session' })).result.isError === false, 'not closed');
    isAskedAnew(await callStateless(args, accept(sealed)), ran());
  });
  await check('a client that no longer declares elicitation gets a denial for its state', async () => {
    const sealed = await question();
    refused((await callStateless({ code: asking }, accept(sealed), { capabilities: { elicitation: { url: {} } } })).result, 'cannot be asked');
  });
  await check('a state of the gateway before its restart is none; approved cells are still in the past of their session', async () => {
    const args = { code: `${asking}\nwave_name = wave.__name__`, session: 'new' };
    const opened = await callStateless(args, accept(await question(args)));
    const { session } = opened.result.structuredContent;
    const sealed = await question();
    must((await stopServe(serve)) === 0, serve.log());
    serve = await startServe(...options);
    const before = ran();
    must((await callStateless({ code: asking }, accept(sealed))).error?.code === -32602 && ran() === before, 'accepted');
    const { result } = await callStateless({ code: 'print(wave_name)', session });
    must(result.structuredContent.stdout === 'wave\n', result);
    const again = { code: 'import wave as w\nprint(w.__name__, wave_name)', session };
    must((await callStateless(again, accept(await question(again)))).result.structuredContent.stdout === 'wave wave\n', 'the session');
  });
  await check('a gateway that is killed while an approved cell waits does not run it afterwards', async () => {
    const { result } = await callStateless({ code: 'import time\nprint(1)', session: 'new' });
    const { session } = result.structuredContent;
    const before = ran();
    const slow = rejection(callStateless({ code: 'time.sleep(6)', session }));
    await sleep(500);
    const args = { code: `${asking}\nopen("ran.txt", "w").write("x")`, session };
    const waiting = rejection(question(args).then((sealed) => callStateless(args, accept(sealed))));
    await sleep(1500);
    must(ran() === before + 1, 'no approval');
    await stopServe(serve, 'SIGKILL');
    await Promise.all([slow, waiting]);
    serve = await startServe(...options);
    for (let i = 0; i < 60; i++) {
      const { result: now } = await callStateless({ code: 'import os\nprint(os.path.exists("ran.txt"))', session });
      if (!now.isError) {
        must(now.structuredContent.stdout === 'False\n', now);
        return;
      }
      must(now.structuredContent.status !== 'denied', now);
      await sleep(500);
    }
    must(false, 'the session did not come back');
  });
}

async function openSession(capabilities = form) {
  const response = await post({ id: ++id, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities, clientInfo: info } });
  const session = response.headers.get('mcp-session-id');
  must(/^[0-9a-f]{64}$/.test(session), session);
  await response.json();
  return { 'Mcp-Session-Id': session, 'MCP-Protocol-Version': '2025-11-25' };
}

// Sends a call with a stream, and passes each message of the server to the function; the last
// message is the result.
async function callHandshake(headers, onMessage, args = { code: asking }) {
  const response = await post({ id: ++id, method: 'tools/call', params: { name: 'execute_code', arguments: args } }, headers);
  must(response.headers.get('content-type').startsWith('text/event-stream'), response.headers.get('content-type'));
  const messages = [];
  let rest = '';
  for await (const chunk of response.body) {
    rest += Buffer.from(chunk).toString();
    for (let end; (end = rest.indexOf('\n\n')) >= 0; rest = rest.slice(end + 2)) {
      const data = /^data: (.*)$/m.exec(rest.slice(0, end));
      if (data) {
        messages.push(JSON.parse(data[1]));
        await onMessage?.(messages.at(-1), id);
      }
    }
  }
  return messages;
}
const reply = (headers, { id }, result) => post({ id, result }, headers);

async function checkHostileSessions() {
  await check('sessions: an unknown id is 404, DELETE ends one, GET is 405, and without an id all works', async () => {
    const unknown = { 'Mcp-Session-Id': 'f'.repeat(64) };
    const headers = await openSession();
    for (const [method, of, status] of [['DELETE', unknown, 404], ['GET', headers, 405], ['DELETE', {}, 405], ['DELETE', headers, 204], ['DELETE', headers, 404]]) {
      must((await fetch(serve.mcp, { method, headers: of })).status === status, { method, status });
    }
    for (const gone of [unknown, headers]) {
      must((await post({ id: ++id, method: 'ping' }, gone)).status === 404 && (await post({ method: 'notifications/initialized' }, gone)).status === 404, 'served');
    }
    must((await (await post({ id: ++id, method: 'ping' })).json()).result, 'ping without a session');
  });
  await check('an answer that is malformed, an error, or of another session runs nothing; a second answer has no effect', async () => {
    const headers = await openSession();
    const other = await openSession();
    const before = ran();
    for (const result of [{ action: 5 }, {}, { action: 'yes' }, { accept: true }]) {
      const messages = await callHandshake(headers, async (m) => m.method && must((await reply(headers, m, result)).status === 202, 'status'));
      refused(messages.at(-1).result, 'gave an answer that is not accept, decline or cancel');
    }
    const failed = await callHandshake(headers, (m) => m.method && post({ id: m.id, error: { code: -1, message: 'no' } }, headers));
    refused(failed.at(-1).result, 'did not answer the question');
    const elsewhere = await callHandshake(headers, async (m) => {
      if (!m.method) return;
      await reply(other, m, { action: 'accept' }); // from another session
      await reply({}, m, { action: 'accept' }); // without a session
      await reply(headers, { id: m.id + 1000 }, { action: 'accept' }); // answers no question
      await reply(headers, { id: String(m.id) }, { action: 'accept' });
      await reply(headers, m, { action: 'decline' });
      await reply(headers, m, { action: 'accept' }); // too late
    });
    refused(elsewhere.at(-1).result, 'declined');
    must(ran() === before, 'it ran');
  });
  await check('notifications/cancelled ends a call that waits for its answer, which has no response', async () => {
    const headers = await openSession();
    const before = ran();
    const messages = await callHandshake(headers, async (m, request) => {
      if (!m.method) return;
      await post({ method: 'notifications/cancelled', params: { requestId: request } }, await openSession()); // from another session
      await post({ method: 'notifications/cancelled', params: { requestId: request } }, headers);
      await reply(headers, m, { action: 'accept' });
    });
    must(messages.length === 1 && ran() === before, messages);
  });
  await check('the end of its session, and of its connection, ends the question', async () => {
    const headers = await openSession();
    const before = ran();
    const ended = await callHandshake(headers, (m) => m.method && fetch(serve.mcp, { method: 'DELETE', headers }));
    must(!ended.some((m) => m.result?.structuredContent?.status === 'ok') && ran() === before, ended);
    const other = await openSession();
    const controller = new AbortController();
    const response = await fetch(serve.mcp, { method: 'POST', signal: controller.signal, headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...other }, body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params: { name: 'execute_code', arguments: { code: asking } } }) });
    const { value } = await response.body.getReader().read();
    const asked = JSON.parse(/^data: (.*)$/m.exec(Buffer.from(value).toString())[1]);
    controller.abort();
    await sleep(2500);
    await reply(other, asked, { action: 'accept' });
    await sleep(500);
    must(ran() === before, 'it ran');
  });
  await check('a client with a session that takes no stream cannot be asked', async () => {
    const headers = await openSession();
    const response = await post({ id: ++id, method: 'tools/call', params: { name: 'execute_code', arguments: { code: asking } } }, { ...headers, Accept: 'application/json' });
    refused((await response.json()).result, 'cannot be asked');
  });
}

if (overHttp) {
  await checkHostileStates();
  await checkHostileSessions();
  await check('the gateway ends on SIGTERM, also while a question waits', async () => {
    const headers = await openSession();
    const call = rejection(callHandshake(headers));
    await sleep(1000);
    must((await stopServe(serve)) === 0, serve.log());
    await call;
  });
}
await check('the audit log verifies', async () => {
  audit('verify');
});
finish();
