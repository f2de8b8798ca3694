// SPDX-License-Identifier: MIT
// Runs every program of programs.mjs in its own session through the REST API. After each program
// the gateway responds, the time limit was enforced, the session continues or its result reports
// that it was lost, the memory of the gateway's processes is bounded, and no container and no
// process remains.
// Usage: run.mjs URL MASTER-PID [WORD of the sentence]
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { programs, javascripts } from './programs.mjs';

const [base, master, only] = process.argv.slice(2);
const LANES = 2, LATE_MS = 1000, RSS_MAX_KIB = Number(process.env.ABUSE_RSS_MIB ?? 400) * 1024; // larger for a build with sanitizers, which delay the release of freed memory
const SLACK_MS = Number(process.env.ABUSE_SLACK_MS ?? 0); // for a build with sanitizers
let latest = 0;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const ask = async (method, path, body, type = 'application/json') => {
  const answer = await fetch(base + path, { method, body, headers: body === undefined ? {} : { 'Content-Type': type } });
  const text = await answer.text();
  let json;
  try { json = JSON.parse(text); } catch { /* a file */ }
  return { status: answer.status, text, json };
};
const post = (path, json) => ask('POST', path, JSON.stringify(json));
const api = {
  list: (s) => ask('GET', `/v1/sessions/${s}/files/`),
  get: (s, path) => ask('GET', `/v1/sessions/${s}/files/${path}`),
  put: (s, path, text) => ask('PUT', `/v1/sessions/${s}/files/${path}`, text, 'application/octet-stream'),
};
const run = async (session_id, code, seconds) => {
  const answer = await post('/v1/executions', { session_id, code, timeout_seconds: seconds });
  assert.equal(answer.status, 200, `the execution is answered ${answer.status}: ${answer.text.slice(0, 400)}`);
  return answer.json;
};
const text = (r) => r.output.filter((o) => o.kind === 'stdout').map((o) => o.text).join('');

// --- the gateway's processes
const children = (pid) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
const name = (pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
const pids = Object.fromEntries(children(master).map((pid) => [name(pid), pid]));
const rss = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
const peak = {};
const measure = () => {
  for (const which of ['cbx-front', 'cbx-executor']) peak[which] = Math.max(peak[which] ?? 0, rss(pids[which]));
};

// --- the remains
const left = (container) => execFileSync('docker', ['ps', '-aq', '--filter', `id=${container}`], { encoding: 'utf8' }).trim();
const processes = (container) => readdirSync('/proc').filter((pid) => {
  try { return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(container); } catch { return false; }
});
const gone = async (container) => {
  for (let i = 0; i < 100; i++, await sleep(100)) if (left(container) === '' && processes(container).length === 0) return;
  assert.fail(`left behind: container '${left(container)}', processes ${processes(container)}`);
};

class Late extends Error {}

const check = async ([sentence, code, expect, options = {}], language) => {
  const wall = options.wall ?? 10, ours = [];
  const opened = await post('/v1/sessions', { language, policy: 'abuse' });
  assert.equal(opened.status, 201, opened.text);
  const session = opened.json.session_id;
  const container = async () => {
    const answer = await ask('GET', `/v1/sessions/${session}`);
    if (answer.json?.container) ours.push(answer.json.container);
  };
  await container();
  try {
    const python = language === 'python';
    if (!options.brief) await run(session, python ? 'kept = 41' : 'globalThis.kept = 41', 10);
    const began = performance.now();
    const result = await run(session, code, wall);
    const took = performance.now() - began;
    measure();
    latest = Math.max(latest, result.duration_ms - wall * 1000);
    const late = result.duration_ms - wall * 1000;
    if (late > LATE_MS + SLACK_MS) throw new Late(`the limit of ${wall} s did not hold: it ended ${late} ms later`);
    if (took > wall * 1000 + LATE_MS + 2000 + SLACK_MS) throw new Late(`the answer did not come in time: ${took} ms`);
    assert.notEqual(result.error, '', 'an error says what happened');
    expect(result);
    const health = await ask('GET', '/healthz');
    assert.equal(health.status, 200, health.text);
    if (options.then) await options.then(session, api);
    if (!options.confuses) {
      const next = await run(session, options.after ?? (python ? 'print(kept + 1)' : 'console.log(kept + 1)'), 10);
      const lost = result.session_lost || next.session_restarted;
      if (options.after) assert.ok(text(next).includes(options.prints), `${JSON.stringify([next.error, text(next)])}`);
      else if (lost) assert.ok(text(next) === '' && next.error?.ename?.includes('Error'), `the session begins anew: ${JSON.stringify(next)}`);
      else if (!options.brief) assert.equal(text(next), '42\n', `the session goes on: ${JSON.stringify([next.error, next.outcome, next.session_lost])}`);
      assert.ok(!next.session_restarted || result.session_lost, 'a lost session is reported at once');
    }
    const listing = await api.list(session);
    assert.ok(listing.status < 500, `${listing.status} ${listing.text}`);
    await container();
  } finally {
    const closed = await ask('DELETE', `/v1/sessions/${session}`);
    assert.ok([200, 404].includes(closed.status), closed.text);
  }
  for (const id of new Set(ours)) await gone(id);
};

// --- all programs, some at a time
const rows = [...programs.map((row) => [row, 'python']), ...javascripts.map((row) => [row, 'javascript'])].filter(([row]) => !only || row[0].includes(only));
let failed = 0;
const again = []; // programs beyond their time limit run again, alone: another program may have taken their processor time
const lane = async () => {
  for (let next; (next = rows.shift()) !== undefined;) {
    const began = performance.now();
    try {
      await check(...next);
      if (!next[0][3]?.brief) console.log(`  ok    ${next[0][0]}${process.env.ABUSE_TIMES ? ` (${Math.round(performance.now() - began)} ms)` : ''}`);
    } catch (error) {
      if (error instanceof Late && !again.includes(next)) {
        again.push(next);
        continue;
      }
      failed++;
      console.log(`  FAILED ${next[0][0]}\n         ${String(error.message).slice(0, 900)}`);
    }
  }
};
const watch = setInterval(measure, 100);
await Promise.all(Array.from({ length: LANES }, lane));
rows.push(...again);
await lane();
clearInterval(watch);

const bounded = (which) => {
  const sentence = `the ${which} stays below ${RSS_MAX_KIB / 1024} MiB (${Math.round(peak[which] / 1024)} MiB at most, ${Math.round(rss(pids[which]) / 1024)} MiB at the end)`;
  const good = peak[which] < RSS_MAX_KIB;
  failed += !good;
  console.log(`  ${good ? 'ok   ' : 'FAILED'} ${sentence}`);
};
bounded('cbx-front');
bounded('cbx-executor');
console.log(`  -     the last to end was ${Math.round(latest)} ms late`);
process.exit(failed > 0 ? 1 : 0);
