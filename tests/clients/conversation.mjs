// SPDX-License-Identifier: MIT
// A complete conversation of an agent: the response at each step, its effects, and the records of
// the audit log afterwards. Over stdio by the client of the handshake era, over HTTP by the client
// of the stateless era.
import { Client as HandshakeClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as StatelessClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { audit, check, finish, firstLine, must, overHttp, records, rejection, server, startServe, state, stopServe, text } from './checks.mjs';

const info = { name: 'an-agent', version: '7.1' };
const serve = overHttp && (await startServe());
const client = overHttp ? new StatelessClient(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } }) : new HandshakeClient(info);
await client.connect(overHttp ? new StreamableHTTPClientTransport(serve.mcp) : new StdioClientTransport(server));
const call = overHttp
  ? (name, args, options) => client.callTool({ name, arguments: args }, options)
  : (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
const execute = (args, options) => call('execute_code', args, options);
const decided = []; // audit ids in the order of the conversation, from the responses to the client
const told = (result) => {
  decided.push(/audit id (\S+)/.exec(text(result))[1]);
  return result;
};
const bytesOf = ({ contents: [content] }) => content.text ?? Buffer.from(content.blob, 'base64').toString();
const bodyOf = (id) => records().find((r) => r.type === 'decision' && r.body.id === id)?.body;

await check('it reads the policy', async () => {
  must(text(await call('get_policy', {})).includes('py.process'), 'py.process is not in it');
});
await check('its program is denied: the line, a caret below the place, and a hint are there', async () => {
  const denied = told(await execute({ code: 'import os\nfiles = os.popen("ls").read()\nprint(files)' }));
  must(denied.isError && /^ *\^/m.test(text(denied)), text(denied));
  for (const part of ['line 2', 'os.popen', 'hint: ']) must(text(denied).includes(part), text(denied));
});
await check('the repaired program runs', async () => {
  const repaired = told(await execute({ code: 'import os\nprint(os.listdir("."))' }));
  must(!repaired.isError && firstLine(repaired) === 'ok', text(repaired));
});
await check('a plot comes back as a picture', async () => {
  const { content } = told(await execute({ code: 'import matplotlib.pyplot as plt\nplt.bar([1, 2], [3, 4])\nplt.show()' }));
  must(content.some((c) => c.type === 'image' && c.mimeType === 'image/png'), content.map((c) => c.type).join());
});
let session;
await check('a session is opened; the file that its program writes is read by read_file and by resources/read', async () => {
  const opened = told(await execute({ session: 'new', code: 'total = 5\nopen("data.csv", "w").write("n\\n5\\n")' }));
  ({ session } = opened.structuredContent);
  const [file] = opened.structuredContent.files;
  must(text(opened).includes(session) && file.path === 'data.csv', opened);
  must((await call('read_file', { session, path: 'data.csv' })).structuredContent.text === 'n\n5\n', 'read_file');
  must(bytesOf(await client.readResource({ uri: file.uri })) === 'n\n5\n', 'resources/read');
});
await check('a module is written and imported', async () => {
  const written = await call('write_file', { session, path: 'tools.py', text: 'def double(n):\n    return 2 * n\n' });
  must(!written.isError, text(written));
  must(told(await execute({ session, code: 'import tools\ntools.double(21)' })).structuredContent.result === '42\n', 'not 42');
});
await check('a file that changed is read anew', async () => {
  const uri = `session://${session}/files/tools.py`;
  const held = async () => bytesOf(await client.readResource({ uri }));
  must((await held()).includes('double'), 'before');
  must(!(await call('write_file', { session, path: 'tools.py', text: 'def triple(n):\n    return 3 * n\n' })).isError, 'write_file');
  must((await held()).includes('triple'), 'the old one was read');
});
await check('the second cell sees the variables of the first, also after a denial between them', async () => {
  must(told(await execute({ session, code: 'total = 0\n__import__("ctypes")' })).isError, 'not denied');
  must(told(await execute({ session, code: 'total += 1\nprint(total)' })).structuredContent.stdout === '6\n', 'not 6');
});
await check('of a long output the end is shown, and read_file has all of it', async () => {
  const long = told(await execute({ session, code: 'for i in range(15000): print(f"row {i}")' }));
  must(text(long).length <= 40000 && text(long).includes('row 14999\n'), text(long).length);
  const [uri] = /sandbox:\/\/executions\/\S+\/stdout/.exec(text(long)) ?? [];
  let all = '';
  for (let offset = 0; offset !== undefined;) {
    const piece = (await call('read_file', { path: uri, offset })).structuredContent;
    all += piece.text;
    offset = piece.next_offset;
  }
  must(all === Array.from({ length: 15000 }, (_, i) => `row ${i}\n`).join(''), `${all.length} characters`);
});
await check('a program of three seconds reports progress, which only grows', async () => {
  const seen = [];
  const slow = told(await execute({ session, code: 'import time\nfor i in range(6):\n    print(i, flush=True)\n    time.sleep(0.5)' }, { onprogress: (progress) => seen.push(progress.progress) }));
  must(slow.structuredContent.stdout.endsWith('5\n'), slow);
  must(seen.length >= 1 && seen.every((n, i) => i === 0 || n > seen[i - 1]), seen);
});
await check('a call that it cancels ends the program, and the session keeps its variables', async () => {
  const controller = new AbortController();
  const cancelled = rejection(execute({ session, code: 'while True: pass' }, { signal: controller.signal }));
  await sleep(1500);
  controller.abort('not needed');
  must((await cancelled) !== undefined, 'it was answered');
  const after = await execute({ session, code: 'print(total)' }, { timeout: 30000 });
  decided.push(records().filter((r) => r.type === 'decision').at(-2).body.id);
  told(after);
  must(after.structuredContent.stdout === '6\n', after);
});
await check('the closed session cannot be used any more: no program, no file, no second close', async () => {
  must(!(await call('close_session', { session })).isError, 'not closed');
  for (const [name, args] of [['execute_code', { code: 'total' }], ['read_file', { path: 'data.csv' }], ['write_file', { path: 'x', text: '' }], ['close_session', {}]]) {
    must((await call(name, { session, ...args })).isError, name);
  }
  must(await rejection(client.readResource({ uri: `session://${session}/files/data.csv` })), 'resources/read');
});

await check('the audit log verifies', async () => {
  audit('verify');
});
await check('the audit log has each decision once, in order, with its verdict', async () => {
  const decisions = records().filter((r) => r.type === 'decision' && r.body.action !== 'write').map((r) => r.body);
  const ids = decisions.map((d) => d.id).filter((id) => decided.includes(id));
  must(ids.join() === decided.join(), { ids, decided });
  must(decisions.map((d) => d.verdict).join().startsWith('deny,allow,allow,allow'), decisions.map((d) => d.verdict));
  must(new Set(decisions.map((d) => d.id)).size === decisions.length, 'an id stands twice');
});
await check('each decision names the client, the request and the session, and the code by its hash', async () => {
  for (const id of decided) {
    const d = bodyOf(id);
    must(d.claimed_client === info.name && d.claimed_client_version === info.version && d.claimed_request !== '' && d.origin === 'mcp' && /^[0-9a-f]{64}$/.test(d.sha256), d);
  }
  must(decided.slice(4).every((id) => bodyOf(id).session === session), decided.map((id) => bodyOf(id).session));
});
await check('each program that was allowed has one outcome, the denied ones have none', async () => {
  const outcomesOf = (id) => records().filter((r) => r.type === 'outcome' && r.body.decision === id).length;
  const wrong = () => decided.filter((id) => outcomesOf(id) !== (bodyOf(id).verdict === 'allow' ? 1 : 0));
  for (let i = 0; i < 50 && wrong().length > 0; i++) await sleep(100); // the executor writes outcomes in batches, after the response
  must(wrong().length === 0, wrong().map(bodyOf));
});
await check("the log's tail tells the conversation", async () => {
  const tail = audit('tail', '--lines', '100');
  must(tail.includes('py.process') && tail.includes('py.native'), tail);
});
await client.close();
if (overHttp) {
  await check('the gateway ends on SIGTERM, and its audit log verifies', async () => {
    must((await stopServe(serve)) === 0, serve.log());
    audit('verify');
  });
}
finish();
