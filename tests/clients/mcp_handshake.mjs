// SPDX-License-Identifier: MIT
// The handshake revisions (initialize), by the official SDK of that era.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { check, checkEnd, checkServeEnd, checkServer, finish, must, overHttp, server, startServe } from './checks.mjs';

const client = new Client({ name: 'codebox-tests', version: '1' });
const protocolErrors = [];
client.onerror = (error) => protocolErrors.push(error);
const serve = overHttp && (await startServe());
const transport = overHttp ? new StreamableHTTPClientTransport(serve.mcp) : new StdioClientTransport(server);
await client.connect(transport);

await check('the handshake says who the server is and what it does', async () => {
  must(client.getServerVersion().name === 'codebox' && client.getServerCapabilities().tools, client.getServerVersion());
  must(client.getInstructions().includes('policy'), 'no instructions');
});
await check('a ping is answered', () => client.ping());
const call = (name, args, options, _meta) => client.callTool({ name, arguments: args, _meta }, undefined, options);
await checkServer(() => client.listTools(), call);
if (overHttp) {
  await check('no message of the server was one that the client could not read', async () => {
    must(protocolErrors.length === 0, protocolErrors.map(String).join());
  });
  await checkServeEnd(serve, () => client.close());
} else {
  await check('a line that is no JSON gets an error that the client can read', async () => {
    transport._process.stdin.write('{nonsense\n');
    await client.ping();
    must(!protocolErrors.some((e) => e.name === 'ZodError'), protocolErrors.map(String).join());
  });
  await checkEnd(() => client.close(), call);
}
finish();
