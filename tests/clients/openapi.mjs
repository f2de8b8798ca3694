// SPDX-License-Identifier: MIT
// /openapi.json: an existing validator accepts it, and every response of the API conforms to its
// schemas.
import Ajv from 'ajv/dist/2020.js';
import { Validator } from '@seriousme/openapi-schema-validator';
import { check, finish, must, startServe, stopServe } from './checks.mjs';

const server = await startServe();
const api = await (await fetch(new URL('/openapi.json', server.url))).json();

await check('a validator of OpenAPI accepts it', async () => {
  const result = await new Validator().validate(api);
  must(result.valid, result.errors);
});

await check('it describes each member of bodies and each parameter', async () => {
  for (const [path, methods] of Object.entries(api.paths)) for (const [method, operation] of Object.entries(methods)) {
    const members = Object.entries(operation.requestBody?.content['application/json']?.schema.properties ?? {}).flatMap(([name, schema]) => [[name, schema], ...Object.entries(schema.properties ?? {})]);
    for (const { name, in: place, schema } of operation.parameters ?? []) if (place === 'query') members.push([name, schema]);
    for (const [name, schema] of members) must(schema.description, `${method} ${path}: ${name}`);
  }
});

const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema({ $id: 'api', ...api });
const pointer = (...keys) => `api#/${keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;

// Calls an operation by its template, and checks the response against the description of its
// status.
const called = new Set();
async function call(method, template, { id, path, body, query = '', expect = '' } = {}) {
  called.add(`${method} ${template}`);
  const target = template.replace('{id}', id).replace('{path}', path) + query;
  const raw = body instanceof Uint8Array || body === undefined;
  const answer = await fetch(new URL(target, server.url), { method, body: raw ? body : JSON.stringify(body), headers: raw ? {} : { 'Content-Type': 'application/json' } });
  const type = answer.headers.get('content-type').split(';')[0], text = await answer.text();
  const operation = api.paths[template][method.toLowerCase()];
  const status = operation.responses[answer.status] ? String(answer.status) : 'default';
  must(expect === '' || status === String(expect), `${method} ${target}: ${answer.status} ${text.slice(0, 300)}`);
  const content = operation.responses[status].content;
  must(type in content || '*/*' in content, `${method} ${target} gives ${type}`);
  if (!(type in content) || !type.endsWith('json')) return text;
  const json = JSON.parse(text);
  const validate = ajv.compile({ $ref: pointer('paths', template, method.toLowerCase(), 'responses', status, 'content', type, 'schema') });
  must(validate(json), `${method} ${target}: ${ajv.errorsText(validate.errors)} in ${text.slice(0, 400)}`);
  if (status !== 'default') { // a member without a description is an error of the description
    const name = content[type].schema.$ref?.split('/').pop();
    const known = name ? Object.keys(api.components.schemas[name].properties) : Object.keys(json);
    const unknown = Object.keys(json).filter((key) => !known.includes(key));
    must(unknown.length === 0, `${method} ${target}: the description of ${name} lacks ${unknown}`);
  }
  return json;
}

await check('sessions and files are as it says', async () => {
  const { session_id: id } = await call('POST', '/v1/sessions', { body: { language: 'python', limits: { wall_ms: 20000 } }, expect: 201 });
  await call('GET', '/v1/sessions', { query: '?limit=1', expect: 200 });
  await call('GET', '/v1/sessions/{id}', { id, expect: 200 });
  const file = '/v1/sessions/{id}/files/{path}';
  await call('PUT', file, { id, path: 'a.txt', body: new TextEncoder().encode('hello'), expect: 201 });
  await call('GET', file, { id, path: 'a.txt', expect: 200 });
  await call('GET', file, { id, path: '', expect: 200 });
  await call('DELETE', file, { id, path: 'a.txt', expect: 200 });
  await call('GET', file, { id, path: 'a.txt', expect: 'default' });
  const ran = await call('POST', '/v1/executions', { body: { session_id: id, code: 'print(1)\nopen("b", "w").write("b")\n7' }, expect: 200 });
  await call('GET', '/v1/executions/{id}', { id: ran.execution_id, expect: 200 });
  await call('POST', '/v1/executions/{id}/input', { id: ran.execution_id, body: { text: 'x' }, expect: 'default' });
  await call('GET', '/v1/sessions/{id}/history', { id, query: '?limit=10', expect: 200 });
  await call('POST', '/v1/sessions/{id}/reset', { id, expect: 200 });
  await call('POST', '/v1/sessions/{id}/interrupt', { id });
  await call('DELETE', '/v1/sessions/{id}', { id, expect: 200 });
});

await check('executions and judgements are as it says', async () => {
  await call('POST', '/v1/executions', { body: { language: 'python', code: '1 / 0' }, expect: 200 });
  await call('POST', '/v1/executions', { body: { language: 'python', code: 'import subprocess' }, expect: 'default' });
  await call('POST', '/v1/executions', { body: { language: 'python', cod: '1' }, expect: 'default' });
  const slow = await call('POST', '/v1/executions', { body: { language: 'python', code: 'import time\ntime.sleep(20)', async: true }, expect: 202 });
  await call('GET', '/v1/executions/{id}', { id: slow.execution_id, expect: 200 });
  await call('POST', '/v1/executions/{id}/cancel', { id: slow.execution_id });
  await call('POST', '/v1/check', { body: { language: 'python', code: 'import os\nos.system("ls")' }, expect: 200 });
});

await check('decisions are as it says', async () => {
  const { decisions } = await call('GET', '/v1/decisions', { query: '?limit=5', expect: 200 });
  must(decisions.length === 5, decisions);
  const denied = (await call('GET', '/v1/decisions', { query: '?verdict=deny', expect: 200 })).decisions[0];
  const { code } = await call('GET', '/v1/decisions/{id}', { id: denied.id, expect: 200 });
  must(code === 'import os\nos.system("ls")', code);
  await call('GET', '/v1/decisions/{id}', { id: 'none', expect: 'default' });
  await call('POST', '/v1/decisions/{id}/approve', { id: denied.id, expect: 'default' });
  await call('POST', '/v1/decisions/{id}/deny', { id: denied.id, expect: 'default' });
  await call('POST', '/v1/stop', { body: { all: true }, expect: 'default' });
});

await check('the page of it names every route, and no other one', async () => {
  const text = await call('GET', '/docs', { expect: 200 });
  for (const [path, methods] of Object.entries(api.paths)) for (const method of Object.keys(methods)) {
    must(text.includes(`<span class="tag method">${method.toUpperCase()}</span><code>${path}</code>`), `${method} ${path}`);
  }
  must(text.split('<details>').length - 1 === Object.values(api.paths).flatMap((methods) => Object.keys(methods)).length, 'more');
  for (const [, name] of text.matchAll(/href="#([^"]*)"/g)) must(text.includes(`id="${name}"`), name);
  must((await fetch(new URL('/docs', server.url))).headers.get('content-security-policy').startsWith("default-src 'none'; style-src 'self';"), 'its policy');
});

await check('policies are as it says', async () => {
  const { policies } = await call('GET', '/v1/policies', { expect: 200 });
  must(policies.some((p) => p.default && p.name === 'default'), policies);
  const one = await call('GET', '/v1/policies/{id}', { id: 'default', expect: 200 });
  must(one.text.includes('py.process'), one.text.slice(0, 200));
  await call('GET', '/v1/policies/{id}', { id: 'other', expect: 'default' });
});

await check('the routes of CodeBox-AI are as it says', async () => {
  const { session_id: id } = await call('POST', '/sessions', { body: { execution_options: { timeout: 30 } }, expect: 200 });
  const { request_id: request } = await call('POST', '/execute', { body: { session_id: id, code: 'print(1)' }, expect: 200 });
  for (let status; !['completed', 'error'].includes(status);) {
    ({ status } = await call('GET', '/execute/{id}/status', { id: request, expect: 200 }));
  }
  await call('GET', '/execute/{id}/results', { id: request, expect: 200 });
  await call('DELETE', '/sessions/{id}', { id, expect: 200 });
});

await check('health, metrics and the description itself are as it says', async () => {
  await call('GET', '/livez', { expect: 200 });
  await call('GET', '/healthz', { expect: 200 });
  await call('GET', '/readyz', { expect: 200 });
  await call('GET', '/metrics', { expect: 200 });
  await call('GET', '/openapi.json', { expect: 200 });
});

await check('every route of the description was called', async () => {
  const all = Object.entries(api.paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`));
  must(all.every((route) => called.has(route)), all.filter((route) => !called.has(route)));
});

await stopServe(server);
finish();
