// SPDX-License-Identifier: MIT
// Kills processes of the gateway and sandboxes at random moments while twenty clients work; then
// nothing may be lost. The master is a child of this script, which starts it again after a kill.
// Usage: chaos.mjs STATE SECONDS SEED VICTIMS CODEBOX [OPTIONS OF SERVE ...]
import { execFileSync, spawn } from 'node:child_process';
import { openSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const [state, seconds, seedText, whom, codebox, ...options] = process.argv.slice(2);
const CLIENTS = 20, LEASE_S = 6;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const log = openSync(`${state}.log`, 'a');

// mulberry32: the same seed gives the same choices, but not the same moments.
let seed = Number(seedText);
const random = () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const pick = (list) => list[Math.floor(random() * list.length)];

// --- the gateway
const port = await new Promise((resolve) => { const s = createServer().listen(0, '127.0.0.1', () => { const { port: p } = s.address(); s.close(() => resolve(p)); }); });
const base = `http://127.0.0.1:${port}`;
let master, ending = false, starts = 0;
const start = () => {
  starts++;
  master = spawn(codebox, ['serve', '--state', state, '--listen', `127.0.0.1:${port}`, '--lease', String(LEASE_S), ...options], { stdio: ['ignore', 'ignore', log] });
  master.on('exit', () => { if (!ending) setTimeout(start, 100); });
};
start();
const ask = async (method, path, json, timeout = 60000) => {
  try {
    const answer = await fetch(base + path, { method, signal: AbortSignal.timeout(timeout), body: json && JSON.stringify(json), headers: json ? { 'Content-Type': 'application/json' } : {} });
    const text = await answer.text();
    return { status: answer.status, json: JSON.parse(text), text };
  } catch (error) {
    return { status: 0, text: String(error.cause?.code ?? error.name ?? error) }; // the connection broke
  }
};
const until = async (what, seconds_, condition) => {
  for (const end = Date.now() + seconds_ * 1000; Date.now() < end; await sleep(200)) if (await condition()) return true;
  problems.push(`waited in vain for: ${what}`);
  return false;
};
const problems = [];
await until('the gateway', 30, async () => (await ask('GET', '/healthz')).status === 200);

// --- the processes to kill
const children = (pid) => { try { return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean); } catch { return []; } };
const name = (pid) => { try { return readFileSync(`/proc/${pid}/comm`, 'utf8').trim(); } catch { return ''; } };
const family = () => { const near = children(master.pid); return [...near, ...near.flatMap(children)]; };
const docker = (...args) => { try { return execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim(); } catch { return ''; } };
const instance = () => readdirSync(`${state}/instances`)[0];
const sandboxes = () => docker('ps', '-aq', '--no-trunc', '--filter', `label=codebox.instance=${instance()}`).split('\n').filter(Boolean);
const killed = {};
const victims = {
  master: () => master.kill('SIGKILL'),
  'cbx-front': () => kill('cbx-front'),
  'cbx-executor': () => kill('cbx-executor'),
  'cbx-zygote': () => kill('cbx-zygote'),
  'cbx-analyzer': () => kill('cbx-analyzer'),
  'sandbox (docker kill)': () => { const id = pick(sandboxes()); if (id) docker('kill', id); },
  'sandbox (docker rm -f)': () => { const id = pick(sandboxes()); if (id) docker('rm', '-f', id); },
};
for (const which of Object.keys(victims)) if (!new RegExp(whom).test(which)) delete victims[which];
const kill = (which) => {
  const pid = pick(family().filter((p) => name(p) === which));
  if (pid) process.kill(Number(pid), 'SIGKILL');
};

// --- the clients
let over = false, serial = 0;
const accepted = [], counts = { sync: 0, async: 0, broken: 0, refused: 0, sessions: 0, right: 0, honest: 0 };
const program = (token) => (random() < 0.3 ? `import time\ntime.sleep(${(random() * 0.8).toFixed(2)})\nprint('${token}')` : `print('${token}')`);
const interrupted = new Set(), closed = new Set(); // sessions
const killsSandboxes = Object.keys(victims).some((v) => v.startsWith('sandbox'));
const judge = (token, execution, own, session) => {
  const text = (execution.output ?? []).filter((o) => o.kind === 'stdout').map((o) => o.text).join('');
  const times = text.split(token).length - 1;
  if (execution.status === 'completed') {
    if (text === `${token}\n`) counts.right++;
    else problems.push(`${token} (${own}): ${times} times its token: ${JSON.stringify(text)}`);
  } else if (execution.status !== 'error') {
    problems.push(`${token} (${own}) is still ${execution.status}: ${execution.execution_id}`);
  } else if (times > 1) {
    problems.push(`${token} (${own}) ran ${times} times`);
  } else {
    // Only a killed sandbox, a closed session or an interrupt may cost a result, and the client
    // gets the reason.
    const said = typeof execution.error === 'string' ? execution.error : JSON.stringify(execution.error);
    if (interrupted.has(session) && /^\{"ename":"KeyboardInterrupt"|was interrupted after|was killed after/.test(said)) counts.honest++;
    else if (closed.has(session) && /there is no session|was killed after|its sandbox is gone/.test(said)) counts.honest++;
    else if (killsSandboxes && /its sandbox is gone|was killed after|sandbox.* (is|was) (gone|removed)|there is no session/.test(said)) counts.honest++;
    else problems.push(`${token} (${own}): an error that names nothing: ${said}`);
  }
};
const client = async (number) => {
  let session = null;
  while (!over) {
    const token = `token-${number}-${++serial}-${Math.floor(random() * 1e9)}`;
    if (session === null && random() < 0.4) {
      const opened = await ask('POST', '/v1/sessions', { policy: 'abuse' });
      if (opened.status === 201) { session = opened.json.session_id; counts.sessions++; }
    }
    const asynchronous = random() < 0.5;
    const body = { code: program(token), async: asynchronous, ...(session && random() < 0.7 ? { session_id: session } : { policy: 'abuse' }) };
    const answer = await ask('POST', '/v1/executions', body);
    const own = `${asynchronous ? 'async' : 'sync'}${body.session_id ? ', session' : ''}`;
    if (answer.status === 202) { counts.async++; accepted.push({ token, id: answer.json.execution_id, own, session: body.session_id }); }
    else if (answer.status === 200) { counts.sync++; judge(token, answer.json, own, body.session_id); }
    else if (answer.status === 0) counts.broken++;
    else if (answer.status === 404 || answer.status === 409) { counts.refused++; session = null; }
    else if (answer.status !== 503) problems.push(`${own}: ${answer.status} ${answer.text.slice(0, 300)}`);
    else { counts.refused++; if (!/killed|gone|shutting down|stop|restarted|try again/.test(answer.text)) problems.push(`${own}: ${answer.status} ${answer.text.slice(0, 300)}`); }
    if (session && random() < 0.1) {
      if (random() < 0.5) {
        interrupted.add(session);
        await ask('POST', `/v1/sessions/${session}/interrupt`);
      } else {
        closed.add(session);
        await ask('DELETE', `/v1/sessions/${session}`);
      }
      session = null;
    }
    if (answer.status === 0) await sleep(300);
  }
};
const chaos = async () => {
  // Kills follow each other faster than a process restarts, with occasional pauses.
  for (const end = Date.now() + Number(seconds) * 1000; Date.now() < end; await sleep(300 + random() * 1700)) {
    const which = pick([...Object.keys(victims), ...Object.keys(victims).filter((v) => /executor|front|docker kill/.test(v))]);
    killed[which] = (killed[which] ?? 0) + 1;
    victims[which]();
  }
  over = true;
};
await Promise.all([chaos(), ...Array.from({ length: CLIENTS }, (_, i) => client(i))]);
console.log(`  -     killed: ${JSON.stringify(killed)}, the gateway was started ${starts} times`);

// --- the remains
await until('the gateway, after all that', 30, async () => (await ask('GET', '/healthz')).status === 200);
for (const one of accepted) {
  let execution;
  for (const end = Date.now() + 60000; Date.now() < end; await sleep(300)) {
    execution = await ask('GET', `/v1/executions/${one.id}`);
    if (execution.status === 404 || (execution.status === 200 && !['queued', 'running'].includes(execution.json.status))) break;
  }
  if (execution.status !== 200) problems.push(`${one.token} (${one.own}) was accepted and is lost: ${execution.status} ${execution.text}`);
  else judge(one.token, execution.json, one.own, one.session);
}
console.log(`  -     ${JSON.stringify(counts)}`);
if (process.env.CHAOS_LOG) for (const p of problems) console.log(p);
const sentence = (good, text, details = []) => { console.log(`  ${good ? 'ok   ' : 'FAILED'} ${text}`); for (const d of details.slice(0, 12)) console.log(`         ${d}`); if (!good) process.exitCode = 1; };
sentence(problems.length === 0, `${accepted.length} accepted and ${counts.sync} answered executions have their own result once, or an error that says why not (${counts.right} right, ${counts.honest} lost with their sandbox)`, problems);

let strays = [], figures = '';
const settled = async () => {
  const sessions = await ask('GET', '/v1/sessions'), health = await ask('GET', '/healthz');
  if (sessions.status !== 200 || health.status !== 200) return false;
  const own = sessions.json.sessions.map((s) => s.container), pool = health.json.pool;
  const running = sandboxes();
  strays = running.filter((id) => !own.some((o) => id.startsWith(o)));
  figures = `${running.length} containers, ${own.length} sessions, pool ${JSON.stringify(pool)}`;
  return strays.length === pool.ready && pool.making === 0;
};
const began = Date.now();
let tidy = false;
while (!tidy && Date.now() - began < (LEASE_S * 2 + 15) * 1000) { tidy = await settled(); if (!tidy) await sleep(500); }
sentence(tidy, `every sandbox is a session's or the pool's (after ${((Date.now() - began) / 1000).toFixed(1)} s)`, tidy ? [] : [figures, `not a session's: ${strays.map((s) => s.slice(0, 12))}`]);
ending = true;
master.kill('SIGTERM');
await new Promise((resolve) => master.on('exit', resolve));
