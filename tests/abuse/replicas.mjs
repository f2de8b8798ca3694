// SPDX-License-Identifier: MIT
// Kills processes of three replicas at random moments while clients repeat their requests, by the
// same Idempotency-Key, until they have an answer. Then each key has had its effect once.
// FOLDER has a configuration {a,b,c}.yaml for each replica, which this script starts again after a
// kill; TOKEN is a caller's. It leaves the replicas running: their process ids go to FOLDER/pids.
// Usage: replicas.mjs FOLDER SECONDS KILLS SEED CODEBOX TOKEN PORT_A PORT_B PORT_C
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { openSync, readFileSync, writeFileSync } from 'node:fs';

const [folder, secondsText, killsText, seedText, codebox, token, ...ports] = process.argv.slice(2);
// CHAOS_BACK_MS=10000 is the target of an idle machine; a busy one only has to come back.
const names = ['a', 'b', 'c'], CLIENTS = 9, BACK_MS = Number(process.env.CHAOS_BACK_MS ?? 60000), ANSWER_MS = 90000;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const problems = [];
const counts = { one: 0, session: 0, stream: 0, opened: 0, file: 0, cancelled: 0, repeated: 0, back: 0 };
const note = (text) => { problems.push(text); if (process.env.CHAOS_LOG) console.log(text); };

// mulberry32: the same seed gives the same choices, but not the same moments.
let seed = Number(seedText);
const random = () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const pick = (list) => list[Math.floor(random() * list.length)];

// --- the replicas
const replicas = {};
const start = (name) => {
  const r = replicas[name];
  r.process = spawn(codebox, ['serve', '--config', `${folder}/${name}.yaml`], { stdio: ['ignore', 'ignore', r.log], detached: true });
  r.starts++;
  writeFileSync(`${folder}/pids`, names.map((n) => replicas[n]?.process?.pid ?? '').join('\n'));
};
names.forEach((name, i) => { replicas[name] = { base: `http://127.0.0.1:${ports[i]}`, log: openSync(`${folder}/${name}.log`, 'a'), starts: 0, busy: false }; start(name); });
const answers = async (name) => (await ask(name, 'GET', '/readyz', null, {}, 3000)).status === 200;
const until = async (milliseconds, condition) => {
  for (const end = Date.now() + milliseconds; Date.now() < end; await sleep(100)) if (await condition()) return true;
  return false;
};

// --- requests
// Returns the status 0 for a connection that broke, or a stream without an end.
const ask = async (name, method, path, body, headers = {}, timeout = 30000) => {
  try {
    const answer = await fetch(replicas[name].base + path, {
      method, signal: AbortSignal.timeout(timeout), body: body === null ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      headers: { Authorization: `Bearer ${token}`, ...(body === null ? {} : { 'Content-Type': typeof body === 'string' ? 'application/octet-stream' : 'application/json' }), ...headers },
    });
    const text = await answer.text();
    if ((answer.headers.get('content-type') ?? '').startsWith('text/event-stream')) {
      const done = /event: done\ndata: (.*)\n/.exec(text);
      return done ? { status: answer.status, json: JSON.parse(done[1]), text } : { status: 0, text: `a stream without an end: ${text.slice(-200)}` };
    }
    let json = null;
    try { json = JSON.parse(text); } catch { /* a file */ }
    return { status: answer.status, json, text };
  } catch (error) {
    return { status: 0, text: String(error.cause?.code ?? error.name ?? error) };
  }
};
const AGAIN = [0, 409, 502, 503];
// Repeats the request at random replicas until it has an answer.
const insist = async (what, method, path, body, headers = {}) => {
  let last = null, tries = 0;
  for (const end = Date.now() + ANSWER_MS; Date.now() < end; tries++) {
    last = await ask(pick(names), method, path, body, headers);
    if (!AGAIN.includes(last.status) || /the execution is over/.test(last.text)) { counts.repeated += tries > 0 ? 1 : 0; return last; }
    await sleep(100 + random() * 200);
  }
  note(`${what}: no answer within ${ANSWER_MS / 1000} s, the last is ${last.status} ${last.text.slice(0, 300)}`);
  return null;
};

// --- the clients
let over = false, serial = 0;
const keys = [], sessions = [], accepted = [];
const text = (execution) => (execution.output ?? []).filter((o) => o.kind === 'stdout').map((o) => o.text).join('');
const judge = (what, answer, expected) => {
  if (answer === null) return;
  if (answer.status !== 200) note(`${what}: ${answer.status} ${answer.text.slice(0, 300)}`);
  else if (answer.json.status !== 'completed' || text(answer.json) !== expected) note(`${what}: ${answer.json.status} ${JSON.stringify(text(answer.json))} ${JSON.stringify(answer.json.error ?? '')}`);
};
const settle = async (id, what) => {
  let last = null;
  const ended = await until(ANSWER_MS, async () => { last = await ask(pick(names), 'GET', `/v1/executions/${id}`, null); return last.status === 200 && !['queued', 'running'].includes(last.json.status); });
  if (!ended) note(`${what}: is not over: ${id}: ${last?.status} ${last?.text.slice(0, 200)}`);
  return ended ? last : null;
};
// An execution; a request that was repeated is answered with what the first one began, and that may
// still run.
const execute = async (what, body, key, expected) => {
  const answer = await insist(what, 'POST', '/v1/executions', body, { 'Idempotency-Key': key });
  judge(what, answer?.status === 202 ? await settle(answer.json.execution_id, what) : answer, expected);
};
const client = async () => {
  let session = null;
  while (!over) {
    const word = `w${++serial}x${Math.floor(random() * 1e9)}`;
    const key = { 'Idempotency-Key': word };
    const choice = random();
    if (session === null) {
      const opened = await insist(`session ${word}`, 'POST', '/v1/sessions', { language: 'python' }, key);
      if (opened === null || opened.status !== 201) { if (opened) note(`session ${word}: ${opened.status} ${opened.text.slice(0, 300)}`); continue; }
      session = { id: opened.json.session_id, words: [] };
      sessions.push(session);
      counts.opened++;
      const code = `words = [] # ${word}`;
      keys.push({ word, code });
      await execute(`first cell ${word}`, { code, session_id: session.id }, `first ${word}`, '');
    } else if (choice < 0.3) {
      const code = `print("${word}")`;
      keys.push({ word, code });
      await execute(`one-shot ${word}`, { code }, word, `${word}\n`);
      counts.one++;
    } else if (choice < 0.7) {
      const stream = choice > 0.55;
      const code = `import time\ntime.sleep(${(random() * 0.5).toFixed(2)})\nwords.append("${word}")\nprint("${word}")`;
      keys.push({ word, code });
      session.words.push(word);
      await execute(`${stream ? 'stream' : 'cell'} ${word}`, { code, session_id: session.id, stream }, word, `${word}\n`);
      counts[stream ? 'stream' : 'session']++;
    } else if (choice < 0.85) {
      const put = await insist(`file ${word}`, 'PUT', `/v1/sessions/${session.id}/files/${word}`, word.repeat(3000));
      if (put !== null && put.status !== 200 && put.status !== 201) note(`file ${word}: ${put.status} ${put.text.slice(0, 300)}`);
      const got = put && (await insist(`file ${word}`, 'GET', `/v1/sessions/${session.id}/files/${word}`, null));
      if (got && (got.status !== 200 || got.text !== word.repeat(3000))) note(`file ${word} is read as ${got.status} ${got.text.slice(0, 100)}`);
      counts.file++;
    } else {
      const code = `while True: pass # ${word}`;
      keys.push({ word, code, cancelled: true });
      const begun = await insist(`loop ${word}`, 'POST', '/v1/executions', { code, async: true }, key);
      if (begun === null) continue;
      if (begun.status !== 202) { if (begun.json?.status !== 'cancelled') note(`loop ${word}: ${begun.status} ${begun.text.slice(0, 300)}`); continue; }
      accepted.push(begun.json.execution_id);
      await sleep(random() * 500);
      const cancelled = await insist(`cancel ${word}`, 'POST', `/v1/executions/${begun.json.execution_id}/cancel`, {});
      if (cancelled !== null && cancelled.status >= 400 && cancelled.status !== 409) note(`cancel ${word}: ${cancelled.status} ${cancelled.text.slice(0, 300)}`);
      const ended = await settle(begun.json.execution_id, `loop ${word}`);
      if (ended && ended.json.status === 'completed') note(`loop ${word} is completed`);
      counts.cancelled++;
    }
  }
};

// --- the faults
const children = (pid) => { try { return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number); } catch { return []; } };
const comm = (pid) => { try { return readFileSync(`/proc/${pid}/comm`, 'utf8').trim(); } catch { return ''; } };
const child = (name, which) => children(replicas[name].process.pid).find((pid) => comm(pid) === which);
const signal = (pid, number) => { try { if (pid) process.kill(pid, number); } catch { /* it has just ended */ } };
const killed = {};
let slowest = 0; // milliseconds until a replica and its sessions were there again
// The identifier of what a replica made begins with 20 bits of the hash of its name.
const tag = (name) => createHash('sha256').update(`replica ${name}`).digest('hex').slice(0, 5);
// A killed replica is started again after a while, and has its sessions again within BACK_MS of its
// start: through itself, and through another one that no fault is at work on.
const comesBack = async (name) => {
  await sleep(random() * 2000);
  start(name);
  const own = sessions.filter((one) => one.id.startsWith(tag(name)));
  const begun = Date.now(), end = begun + BACK_MS;
  if (!(await until(BACK_MS, () => answers(name)))) note(`replica ${name} does not answer within ${BACK_MS / 1000} s of its start`);
  for (const { id } of own) {
    const through = () => pick([name, ...names.filter((one) => !replicas[one].busy)]);
    if (!(await until(end - Date.now(), async () => (await ask(through(), 'GET', `/v1/sessions/${id}`, null, {}, 5000)).status === 200))) note(`session ${id} of ${name} does not answer within ${BACK_MS / 1000} s of its start`);
    else counts.back++;
  }
  slowest = Math.max(slowest, Date.now() - begun);
};
const faults = {
  replica: async (name) => {
    const { process: gone } = replicas[name];
    const ended = new Promise((resolve) => gone.on('exit', resolve));
    const all = [gone.pid, ...children(gone.pid).flatMap((pid) => [pid, ...children(pid)])];
    signal(-gone.pid, 'SIGKILL');
    for (const pid of all) signal(pid, 'SIGKILL');
    await ended;
    await comesBack(name);
  },
  'cbx-front': (name) => signal(child(name, 'cbx-front'), 'SIGKILL'),
  'cbx-replicas': (name) => signal(child(name, 'cbx-replicas'), 'SIGKILL'),
  'cbx-executor': (name) => signal(child(name, 'cbx-executor'), 'SIGKILL'),
  'cbx-replicas stopped': async (name) => {
    const pid = child(name, 'cbx-replicas');
    signal(pid, 'SIGSTOP');
    await sleep(random() * 4000);
    signal(pid, 'SIGCONT');
  },
  reload: (name) => signal(replicas[name].process.pid, 'SIGHUP'),
};
const chaos = async () => {
  const rest = new Set();
  const begun = Date.now();
  const goesOn = (n) => (Number(killsText) > 0 ? n < Number(killsText) : Date.now() - begun < Number(secondsText) * 1000);
  for (let n = 0; goesOn(n);) {
    await sleep(200 + random() * 1000);
    const name = pick(names.filter((one) => !replicas[one].busy)), fault = pick(Object.keys(faults));
    if (name === undefined) continue;
    n++;
    killed[fault] = (killed[fault] ?? 0) + 1;
    replicas[name].busy = fault === 'replica' || fault === 'cbx-replicas stopped';
    const done = Promise.resolve(faults[fault](name)).then(() => { replicas[name].busy = false; });
    rest.add(done);
    done.then(() => rest.delete(done));
  }
  over = true;
  await Promise.all(rest);
};

for (const name of names) if (!(await until(60000, () => answers(name)))) note(`replica ${name} does not start`);
await Promise.all([chaos(), ...Array.from({ length: CLIENTS }, client)]);
const total = Object.values(killed).reduce((sum, n) => sum + n, 0);
console.log(`  -     ${total} faults: ${JSON.stringify(killed)}`);
console.log(`  -     ${JSON.stringify(counts)}; the slowest start of a replica took ${(slowest / 1000).toFixed(1)} s`);

// --- the remains
const sentence = (good, what, details = []) => { console.log(`  ${good ? 'ok   ' : 'FAILED'} ${what}`); for (const d of details.slice(0, 12)) console.log(`         ${d}`); if (!good) process.exitCode = 1; };
const whole = [];
for (const name of names) if (!(await until(BACK_MS, () => answers(name)))) whole.push(`replica ${name} does not answer`);
sentence(whole.length === 0, 'each replica answers after that', whole);
sentence(problems.length === 0, `each of ${keys.length} runs, and each file, session and cancel, has its answer (${counts.repeated} requests were repeated)`, problems);

const lost = [];
for (const id of accepted) {
  const got = await ask(pick(names), 'GET', `/v1/executions/${id}`, null);
  if (got.status !== 200) lost.push(`${id}: ${got.status} ${got.text.slice(0, 200)}`);
}
sentence(lost.length === 0, `each of ${accepted.length} accepted runs has its record`, lost);

const wrong = [];
for (const session of sessions) {
  for (const name of names) {
    const got = await ask(name, 'GET', `/v1/sessions/${session.id}`, null, {}, BACK_MS);
    if (got.status !== 200) wrong.push(`${session.id} through ${name}: ${got.status} ${got.text.slice(0, 200)}`);
  }
  const got = await ask(pick(names), 'POST', '/v1/executions', { code: 'print(" ".join(words))', session_id: session.id });
  const found = got.json && got.status === 200 ? text(got.json).trim().split(' ').filter(Boolean) : null;
  if (found === null || found.join() !== session.words.join()) wrong.push(`${session.id}: ${got.status} has ${found?.length} cells of ${session.words.length}: ${got.text.slice(0, 200)}`);
}
sentence(wrong.length === 0, `each of ${sessions.length} sessions answers through each replica and has run its cells once, in order`, wrong);

// Each permitted action has one outcome, and of those of a key one has run.
const odd = [];
let again = 0;
const records = () => names.flatMap((name) => readFileSync(`${folder}/state-${name}/audit.jsonl`, 'utf8').trim().split('\n').map((line) => JSON.parse(line)));
const check = () => {
  odd.length = again = 0;
  const outcomes = new Map(), decisions = new Map();
  for (const record of records()) {
    if (record.type === 'outcome') outcomes.set(record.body.decision, [...(outcomes.get(record.body.decision) ?? []), record.body]);
    if (record.type === 'decision' && record.body.verdict === 'allow' && record.body.action !== 'check') decisions.set(record.body.sha256, [...(decisions.get(record.body.sha256) ?? []), record.body]);
  }
  for (const list of decisions.values()) for (const d of list) if ((outcomes.get(d.id) ?? []).length !== 1) odd.push(`decision ${d.id} (${d.action}) has ${(outcomes.get(d.id) ?? []).length} outcomes`);
  for (const { word, code, cancelled } of keys) {
    // What was admitted and did not begin, because executor or front was killed, is judged again: its
    // outcome has the status of a run that did not start. An executor that was killed before it
    // recorded the outcome of a run leaves an unknown one too.
    const NOT_STARTED = 0; // CBX_RUN_FAILED
    const all = decisions.get(createHash('sha256').update(code).digest('hex')) ?? [];
    const own = all.filter((d) => outcomes.get(d.id)?.[0]?.status !== NOT_STARTED && !/^outcome unknown/.test(outcomes.get(d.id)?.[0]?.error ?? ''));
    again += Math.max(all.length - 1, 0);
    if (own.length > 1 || (all.length === 0 && !cancelled)) odd.push(`${word} has ${own.length} permitted decisions: ${JSON.stringify(all.map((d) => [d.id, outcomes.get(d.id)?.map((o) => [o.status, o.error])]))}`);
  }
  return odd.length === 0;
};
await until(20000, check);
sentence(odd.length === 0, `each of ${keys.length} keys has one permitted decision with its outcome, over the three logs (${again} were judged again)`, odd);

const left = [];
for (const session of sessions) {
  const gone = await ask(pick(names), 'DELETE', `/v1/sessions/${session.id}`, null);
  if (gone.status !== 200) left.push(`${session.id}: ${gone.status} ${gone.text.slice(0, 200)}`);
}
sentence(left.length === 0, 'each session is closed', left);
process.exit();
