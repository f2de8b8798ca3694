// SPDX-License-Identifier: MIT
// The figures of many sessions and several replicas that need an engine, each with a baseline of
// the same run. Usage: scale.mjs CODEBOX FOLDER [PART ...]
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { gateways, median, ms, quantile, run, since, sleep, timed } from './gateway.mjs';

const [codebox, folder, ...parts] = process.argv.slice(2);
const gateway = gateways(codebox, folder);
const spread = (times) => `p50 ${ms(median(times))} ms, p99 ${ms(quantile(times, 0.99))} ms`;
const times = (part, whole) => `${(part / whole).toFixed(4)} times that`;

// The same request at two gateways, in turns; on a loaded machine fewer than `count` times.
const inTurns = async (what, count, [ours, theirs, name], work) => {
  const [far, near, more] = [[], [], []], PART_MS = 15000;
  for (const g of [ours, theirs]) await work(g);
  const began = performance.now();
  for (let k = 0; k < count && since(began) < PART_MS; k++) {
    for (const first of k % 2 ? [true, false] : [false, true]) (first ? far : near).push(await timed(() => work(first ? ours : theirs)));
    more.push(far.at(-1) - near.at(-1));
  }
  console.log(`${what}: p50 ${ms(median(far))} ms of ${far.length}, ${name} ${ms(median(near))} ms, in pairs ${ms(median(more))} ms more, ${(median(far) / median(near)).toFixed(2)} times that`);
};

// --- two replicas on one engine
const openssl = (...args) => run('openssl', args, { cwd: folder });
const keyOf = (name) => openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', `${name}.key`);
const certify = async (names) => {
  await keyOf('ca');
  await openssl('req', '-x509', '-new', '-key', 'ca.key', '-subj', '/CN=ca', '-days', '2', '-out', 'ca.pem');
  for (const name of names) {
    await keyOf(name);
    writeFileSync(`${folder}/${name}.ext`, `subjectAltName=DNS:${name}\nextendedKeyUsage=serverAuth,clientAuth\n`);
    await openssl('req', '-new', '-key', `${name}.key`, '-subj', `/CN=${name}`, '-out', `${name}.csr`);
    await openssl('x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', `${name}.ext`, '-out', `${name}.pem`);
  }
};
const freePort = () => new Promise((resolve) => { const server = net.createServer().listen(0, '127.0.0.1', () => { const { port } = server.address(); server.close(() => resolve(port)); }); });
const replicas = async (names) => {
  await certify(names);
  const ports = await Promise.all(names.map(freePort));
  const token = (await run(codebox, ['token', 'create', '--state', `${folder}/${names[0]}`, '--principal', 'bench'])).stdout.trim();
  const started = [];
  for (const [i, name] of names.entries()) {
    mkdirSync(`${folder}/${name}`, { recursive: true, mode: 0o700 });
    if (i > 0) copyFileSync(`${folder}/${names[0]}/tokens.jsonl`, `${folder}/${name}/tokens.jsonl`);
    const files = ['--peer-certificate', `${folder}/${name}.pem`, '--peer-key', `${folder}/${name}.key`, '--peer-ca', `${folder}/ca.pem`];
    const peers = names.flatMap((peer, k) => ['--peer', `${peer}=127.0.0.1:${ports[k]}`]);
    started.push(await gateway(name, ['--pool-min', '1', '--replica', name, '--peer-listen', `127.0.0.1:${ports[i]}`, ...files, ...peers], token));
  }
  return started;
};

// --- the figures
const figures = {
  // Requests come at a fixed rate, whether the earlier ones are answered or not. The pool has as
  // many sandboxes as may be in use, so it makes none meanwhile: two processors make fewer than
  // come, and the first runs would wait for those. Sandboxes that must be made: one after another.
  async claim() {
    const READY = 8, ROUNDS = 5, ROUNDS_MS = 50000, RATE = 10, COLD = 9, COLD_MIN = 3, COLD_MS = 20000;
    let g = await gateway('claim', ['--pool-min', String(READY), '--pool-max', String(READY)]);
    const use = async (opened, printed, limits = {}) => {
      let id;
      const opening = await timed(async () => { id = (await g.ask('POST', '/v1/sessions', limits)).session_id; });
      const printing = await timed(() => g.ask('POST', '/v1/executions', { session_id: id, code: 'print(1)' }));
      opened.push(opening);
      printed.push(opening + printing);
      return id;
    };
    const close = (ids) => Promise.all(ids.map((id) => g.ask('DELETE', `/v1/sessions/${id}`)));
    const calm = async () => { for (let i = 0; i < 200 && (await g.ask('GET', '/healthz')).pool.making > 0; i++) await sleep(50); await sleep(200); };
    const [opened, printed, coldOpened, coldPrinted] = [[], [], [], []];
    const began = performance.now();
    for (let i = 0; i < ROUNDS && since(began) < ROUNDS_MS; i++) {
      const filling = await timed(() => g.filled(READY));
      await sleep(Math.max(READY * 1000, 2 * filling)); // their kernels prewarm after they are ready
      const claims = [];
      for (let k = 0; k < READY; k++, await sleep(1000 / RATE)) claims.push(use(opened, printed));
      await close(await Promise.all(claims));
    }
    await g.stop();
    g = await gateway('made', ['--pool-min', '1']);
    await g.filled(1);
    const coldBegan = performance.now();
    for (let i = 0; i < COLD && (i < COLD_MIN || since(coldBegan) < COLD_MS); i++) {
      const id = await use(coldOpened, coldPrinted, { limits: { memory_bytes: (200 + i) << 20 } }); // the pool has none of these limits
      await close([id]);
      await calm();
    }
    console.log(`claim from the pool, open a session: ${spread(opened)} of ${opened.length} at ${RATE}/s (budget 10 ms and 50 ms, at 50/s), of one that must be made ${spread(coldOpened)} of ${coldOpened.length}, ${times(median(opened), median(coldOpened))}`);
    console.log(`claim from the pool, open a session and print: ${spread(printed)}, with one that must be made ${spread(coldPrinted)}, ${times(median(printed), median(coldPrinted))}`);
    await g.stop();
  },
  // A cluster has its own sandboxes: each gateway runs the program in its own session.
  async kubernetes() {
    const [kind, kubeconfig, settings] = (process.env.CODEBOX_TEST_ENGINE ?? '').split(':');
    if (kind !== 'kubernetes') { console.log('a run over a cluster: left out, CODEBOX_TEST_ENGINE names none'); return; }
    const ours = await gateway('cluster', ['--pool-min', '1', '--engine', 'kubernetes', '--kubeconfig', kubeconfig, '--cluster', settings]), theirs = await gateway('docker', ['--pool-min', '1']);
    const sessions = new Map();
    for (const g of [ours, theirs]) { await g.filled(1); sessions.set(g, (await g.ask('POST', '/v1/sessions', {})).session_id); await g.filled(1); }
    await inTurns('a run over a cluster (budget 2 ms more)', 200, [ours, theirs, 'over Docker'], (g) => g.ask('POST', '/v1/executions', { session_id: sessions.get(g), code: 'print(1)' }));
    await Promise.all([ours, theirs].map(async (g) => { await g.ask('DELETE', `/v1/sessions/${sessions.get(g)}`); await g.stop(); }));
  },
  // A store in PostgreSQL on this machine, with its fsync, over TCP without TLS, and the one in a file.
  async store() {
    const versions = '/usr/lib/postgresql', last = existsSync(versions) && readdirSync(versions).sort((a, b) => a - b).at(-1);
    if (!last || process.getuid() !== 0) { console.log('PostgreSQL beside SQLite: left out without PostgreSQL, or as another user than root'); return; }
    const [port, data] = [await freePort(), mkdtempSync('/tmp/codebox-bench-')];
    const server = (program, ...args) => run('setpriv', ['--reuid', 'postgres', '--regid', 'postgres', '--clear-groups', '--', `${versions}/${last}/bin/${program}`, ...args], { cwd: '/' });
    await run('chown', ['postgres:postgres', data]);
    await server('initdb', '-D', `${data}/db`, '-U', 'codebox', '-A', 'trust', '-E', 'UTF8', '--locale=C');
    await server('pg_ctl', '-D', `${data}/db`, '-w', '-l', `${data}/log`, '-o', `-k ${data} -h localhost -p ${port}`, 'start');
    const ours = await gateway('postgres', ['--pool-min', '1', '--store', `postgres://codebox@localhost:${port}/postgres?sslmode=disable`]), theirs = await gateway('sqlite', ['--pool-min', '1']);
    const sessions = new Map();
    for (const g of [ours, theirs]) { await g.filled(1); sessions.set(g, (await g.ask('POST', '/v1/sessions', {})).session_id); await g.filled(1); }
    await inTurns('PostgreSQL beside SQLite, a run of print(1)', 200, [ours, theirs, 'with SQLite'], (g) => g.ask('POST', '/v1/executions', { session_id: sessions.get(g), code: 'print(1)' }));
    await inTurns('PostgreSQL beside SQLite, GET of a session', 200, [ours, theirs, 'with SQLite'], (g) => g.ask('GET', `/v1/sessions/${sessions.get(g)}`));
    await Promise.all([ours, theirs].map(async (g) => { await g.ask('DELETE', `/v1/sessions/${sessions.get(g)}`); await g.stop(); }));
    await server('pg_ctl', '-D', `${data}/db`, '-m', 'immediate', 'stop');
    rmSync(data, { recursive: true });
  },
  // The same request at the replica that has the session, and at the other one.
  async forward() {
    const MIB = 1 << 20, [owner, other] = await replicas(['a', 'b']);
    const { session_id } = await owner.ask('POST', '/v1/sessions', {});
    const file = `/v1/sessions/${session_id}/files/big`, bytes = randomBytes(MIB);
    await owner.send('PUT', file, bytes, 'application/octet-stream');
    await sleep(3000); // until the pools are filled: /healthz has their size for administrators alone
    const compare = (what, count, work) => inTurns(`forwarded, ${what}`, count, [other, owner, 'at the owner'], work);
    await compare('a run of print(1)', 200, (g) => g.ask('POST', '/v1/executions', { session_id, code: 'print(1)' }));
    await compare('GET of a session', 200, (g) => g.ask('GET', `/v1/sessions/${session_id}`));
    await compare('GET of a file of 1 MiB', 40, async (g) => { if ((await g.send('GET', file)).length !== MIB) throw new Error('the file is not whole'); });
    await compare('PUT of a file of 1 MiB', 40, (g) => g.send('PUT', file, bytes, 'application/octet-stream'));
    await owner.ask('DELETE', `/v1/sessions/${session_id}`);
    await Promise.all([owner.stop(), other.stop()]);
  },
};
for (const part of parts.length > 0 ? parts : Object.keys(figures)) await figures[part]();
process.exit(0);
