// SPDX-License-Identifier: MIT
// The MCP inspector's CLI: a new client for each request, with its exit codes (0 done, 4
// unreachable, 5 the tool's result is an error, 6 schemas).
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { check, codebox, finish, must, overHttp, records, startServe, state, stopServe, text } from './checks.mjs';

const root = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json');
const inspector = new URL('clients/launcher/build/index.js', `file://${root}`).pathname;
const serve = overHttp && (await startServe());
const target = overHttp ? [serve.mcp.href] : [codebox, 'mcp', '--state', state];

async function inspect(...args) {
  const child = spawn(process.execPath, [inspector, '--cli', ...target, ...args, '--format', 'json', '-q'], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: state } });
  let out = '', err = '';
  child.stdout.on('data', (data) => (out += data));
  child.stderr.on('data', (data) => (err += data));
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, result: out === '' ? undefined : JSON.parse(out).result, err };
}
const run = (code, ...more) => inspect('--method', 'tools/call', '--tool-name', 'execute_code', '--tool-arg', `code=${JSON.stringify(code)}`, ...more);

for (const era of ['legacy', 'modern']) {
  await check(`tools/list of the ${era} era: eight tools, and no complaint about their schemas`, async () => {
    const { code, result, err } = await inspect('--method', 'tools/list', '--strict', '--protocol-era', era);
    must(code === 0 && result.tools.length === 8, { code, err });
  });
  await check(`tools/call of the ${era} era: an allowed program is exit code 0 and its output`, async () => {
    const { code, result, err } = await run('print(6 * 7)', '--protocol-era', era);
    must(code === 0 && result.structuredContent.stdout === '42\n' && !result.isError, { code, result, err });
  });
}
await check('a denied program is exit code 5, and its text says what to do', async () => {
  const { code, result, err } = await run('import subprocess');
  must(code === 5 && result.isError && text(result).includes('hint: '), { code, result, err });
});
await check('a program that fails is exit code 0: it ran', async () => {
  const { code, result, err } = await run('raise SystemExit(3)');
  must(code === 0 && result.structuredContent.exit_code === 3, { code, result, err });
});
await check('a tool that does not exist is an error', async () => {
  must((await inspect('--method', 'tools/call', '--tool-name', 'no_such_tool')).code !== 0, 'exit code 0');
});
await check('resources are listed and read; one that does not exist is an error', async () => {
  const { code, result, err } = await inspect('--method', 'resources/read', '--uri', 'sandbox://policy');
  must(code === 0 && result.contents[0].text.includes('py.process'), { code, result, err });
  const listed = await inspect('--method', 'resources/list');
  must(listed.code === 0 && listed.result.resources.some((r) => r.uri === 'sandbox://policy'), listed);
  must((await inspect('--method', 'resources/read', '--uri', 'sandbox://executions/none')).code !== 0, 'exit code 0');
});
await check('prompts are listed, and one has its argument in it', async () => {
  const { code, result, err } = await inspect('--method', 'prompts/list');
  must(code === 0 && result.prompts.some((p) => p.name === 'run_and_explain'), { code, result, err });
  const got = await inspect('--method', 'prompts/get', '--prompt-name', 'run_and_explain', '--prompt-args', 'task=count to ten');
  must(got.code === 0 && got.result.messages[0].content.text.includes('count to ten'), got);
});
await check('the audit log has each decision once, and who claimed to ask', async () => {
  const decisions = records().filter((r) => r.type === 'decision').map((r) => r.body);
  must(decisions.length === 4, `${decisions.length} decisions`);
  must(decisions.some((d) => (d.claimed_client ?? '').includes('inspector')), decisions);
});
if (overHttp) {
  await check('the gateway ends on SIGTERM; then it is unreachable, exit code 4', async () => {
    must((await stopServe(serve)) === 0, serve.log());
    must((await inspect('--method', 'tools/list')).code === 4, 'another exit code');
  });
}
finish();
