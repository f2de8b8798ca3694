// SPDX-License-Identifier: MIT
// Reads the output of `codebox audit export` and `serve --syslog` with published schemas and
// parsers: the Elastic Common Schema of its authors, and a third-party parser for CEF and RFC 5424.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, isIP } from 'node:net';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { audit, check, codebox, finish, must, startServe, state, stopServe } from './checks.mjs';

const require = createRequire(import.meta.url);
const { EcsFlat } = require('@elastic/ecs/generated/ecs_flat');
const parse = require('nsyslog-parser');
const root = join(dirname(codebox), '..');

// --- a log of the gateway, and a log with a record of every type and hostile texts
const messages = [];
const syslog = createServer((connection) => {
  let rest = Buffer.alloc(0); // octet counting (RFC 6587, section 3.4.1)
  connection.on('data', (data) => {
    rest = Buffer.concat([rest, data]);
    for (let space; (space = rest.indexOf(' ')) > 0 && rest.length > space + Number(rest.subarray(0, space)); ) {
      const end = space + 1 + Number(rest.subarray(0, space));
      messages.push(rest.subarray(space + 1, end).toString());
      rest = rest.subarray(end);
    }
  });
});
await new Promise((resolve) => syslog.listen(0, '127.0.0.1', resolve));
const server = await startServe('--syslog', `tcp://127.0.0.1:${syslog.address().port}`);
const post = (path, body) => fetch(new URL(path, server.url), { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
for (const code of ['print(1)', 'import os; os.system("id")', 'import socket', 'raise SystemExit(3)', 'open("a.txt", "w").write("x")', "getattr(__import__('o' + 's'), 'sys' + 'tem')('id')"]) {
  await (await post('/v1/check', { language: 'python', code })).text();
  await (await post('/v1/executions', { language: 'python', code })).text();
}
const session = (await (await post('/v1/sessions', { language: 'python' })).json()).session_id;
await (await post('/v1/executions', { session_id: session, code: 'x = 1' })).text();
await fetch(new URL(`/v1/sessions/${session}`, server.url), { method: 'DELETE' });
const lines = () => audit('export', '--format', 'jsonl').trimEnd().split('\n');
const recorded = lines().length; // records of the requests; the stop may add others
for (let i = 0; i < 200 && messages.length < recorded; i++) await sleep(100);
must((await stopServe(server)) === 0, 'the end of the server');
syslog.close();

const hostile = mkdtempSync(join(tmpdir(), 'codebox-export-'));
execFileSync(codebox, ['audit', 'keygen', '--state', hostile]);
execFileSync('python3', [join(root, 'tests/system/audit/write_records.py'), hostile]);
const exported = (format, of) => execFileSync(codebox, ['audit', 'export', '--format', format, '--state', of], { encoding: 'utf8', maxBuffer: 1 << 28 }).split('\n').slice(0, -1);

// --- ECS
const types = {
  keyword: (v) => typeof v === 'string', constant_keyword: (v) => typeof v === 'string', match_only_text: (v) => typeof v === 'string', wildcard: (v) => typeof v === 'string',
  ip: (v) => isIP(v) > 0, date: (v) => typeof v === 'string' && !Number.isNaN(Date.parse(v)), long: Number.isInteger, float: Number.isFinite, boolean: (v) => typeof v === 'boolean',
};
function* flatten(value, path = '') {
  for (const [key, inner] of Object.entries(value)) {
    const name = path ? `${path}.${key}` : key;
    if (inner !== null && typeof inner === 'object' && !Array.isArray(inner)) yield* flatten(inner, name);
    else yield [name, inner];
  }
}
function readEcs(line) {
  const event = JSON.parse(line), fields = new Map(flatten(event));
  for (const [name, value] of fields) {
    if (name.startsWith('codebox.')) continue; // ECS permits further names that are no fields of ECS
    const field = EcsFlat[name];
    must(field, `ECS has no field ${name}`);
    const list = field.normalize.includes('array');
    must(Array.isArray(value) === list, `${name} is ${JSON.stringify(value)}, ${list ? '' : 'not '}an array`);
    for (const one of list ? value : [value]) {
      must(types[field.type](one), `${name} is ${JSON.stringify(one)}, not a ${field.type}`);
      must(!field.allowed_values || field.allowed_values.some((allowed) => allowed.name === one), `${name} is ${one}`);
    }
  }
  for (const field of Object.values(EcsFlat).filter((each) => each.required)) must(fields.has(field.flat_name), `${field.flat_name} is missing`);
  for (const category of fields.get('event.category')) {
    const { expected_event_types: expected } = EcsFlat['event.category'].allowed_values.find((allowed) => allowed.name === category);
    const others = fields.get('event.type').filter((type) => expected && !expected.includes(type));
    must(others.length === 0, `the category ${category} has no type ${others}`);
  }
  return event;
}
await check('every record is an event of the Elastic Common Schema', async () => {
  const events = exported('ecs', state).map(readEcs);
  must(events.length === lines().length && events.length > 15, `${events.length} events`);
});
await check('  also records of every type with hostile texts', async () => must(exported('ecs', hostile).map(readEcs).length > 100, 'too few'));

// --- CEF
await check('a parser of CEF reads each record, with its number and hash', async () => {
  const records = lines().map((line) => JSON.parse(line));
  exported('cef', state).forEach((line, i) => {
    const { type, cef, fields } = parse(line, { cef: true });
    must(type === 'CEF' && cef.deviceVendor === 'codebox' && cef.deviceEventClassID === records[i].type, JSON.stringify(cef));
    must(fields.externalId === String(records[i].seq) && fields.cs5 === records[i].hash && Number(cef.severity) <= 10, JSON.stringify(fields));
  });
});

// --- RFC 5424
await check('a parser of RFC 5424 reads each message, with its structured data and the record', async () => {
  const records = lines();
  must(messages.length >= recorded, `${messages.length} messages of ${recorded} records`);
  for (const message of messages) {
    const read = parse(message), data = read.structuredData?.find((each) => each.$id === 'codebox@32473');
    must(read.type === 'RFC5424' && read.appName === 'codebox' && read.facility === 'security' && data, JSON.stringify(read).slice(0, 600));
    must(records.includes(read.message.replace(/^\ufeff/, '')), read.message.slice(0, 200));
    must(JSON.parse(read.message.replace(/^\ufeff/, '')).seq === Number(data.seq), JSON.stringify(data));
  }
});
rmSync(hostile, { recursive: true });
finish();
