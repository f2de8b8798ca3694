// SPDX-License-Identifier: MIT
// The stateless revision (2026-07-28, server/discover), by the official client of that era; and the
// client's own choice of era.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { check, checkEnd, checkServeEnd, checkServer, finish, must, overHttp, rejection, server, startServe } from './checks.mjs';

const serve = overHttp && (await startServe());
const connect = async (mode) => {
  const client = new Client({ name: 'codebox-tests', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(overHttp ? new StreamableHTTPClientTransport(serve.mcp) : new StdioClientTransport(server));
  return client;
};

await check('a client that may choose takes 2026-07-28', async () => {
  const client = await connect('auto');
  must(client.getNegotiatedProtocolVersion() === '2026-07-28', client.getNegotiatedProtocolVersion());
  await client.close();
});
await check('a client that does not negotiate gets the handshake', async () => {
  const client = await connect('legacy');
  must((await client.listTools()).tools.length === 8, 'tools');
  await client.close();
});
await check('a client that insists on a version nobody serves is told so', async () => {
  must(await rejection(connect({ pin: '2031-01-01' })), 'it connected');
});

const client = await connect({ pin: '2026-07-28' });
const call = (name, args, options, _meta) => client.callTool({ name, arguments: args, _meta }, options);
await checkServer(
  () => client.listTools(),
  call,
);
await (overHttp ? checkServeEnd(serve, () => client.close()) : checkEnd(() => client.close(), call));
finish();
