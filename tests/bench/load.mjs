// SPDX-License-Identifier: MIT
// Load: 1,000 idle event streams and 64 callers of /v1/check for LOAD_SECONDS (60). Prints requests
// per second, p50 and p99, and the memory of each process before and after. Exit status 1 if a
// request fails, p99 is above 10 times p50, or memory grew by more than a fifth.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [, , codebox] = process.argv;
const IDLE = 1000, CALLERS = 64, SECONDS = Number(process.env.LOAD_SECONDS ?? 60);
const state = mkdtempSync(join(tmpdir(), 'codebox-load-'));
const child = spawn(codebox, ['serve', '--state', state, '--listen', '127.0.0.1:0', '--max-runs', '2'], { stdio: ['ignore', 'ignore', 'pipe'] });
let log = '';
const url = await new Promise((resolve, reject) => {
  child.stderr.on('data', (data) => { log += data; const at = /serving on (http:[^,\s]*),/.exec(log); if (at) resolve(new URL(at[1])); });
  child.once('exit', () => reject(new Error(log)));
});

// Resident memory in KiB of the long-lived processes of the gateway, by name.
function memory() {
  const of = {};
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8'), name = /^Name:\s*(.*)$/m.exec(status)[1];
      if (Number(/^PPid:\s*(\d+)/m.exec(status)[1]) === child.pid) of[name] = Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0);
    } catch { /* it has ended */ }
  }
  return of;
}

// Event streams of programs that sleep or wait in the queue. A stream that ends before its program
// is lost.
let lost = 0;
const streams = new Agent({ maxSockets: Infinity });
const open = [];
for (let i = 0; i < IDLE; i++) {
  await new Promise((resolve) => {
    const sent = request(new URL('/v1/executions', url), { agent: streams, method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' } }, (answer) => {
      let last = '';
      if (answer.statusCode !== 200) lost++;
      answer.on('data', (data) => { last = (last + data).slice(-2000); });
      answer.on('end', () => { if (!/"outcome":"(ok|timeout)"/.test(last) && open.length) lost++; });
      resolve();
    });
    sent.once('error', () => { if (open.length) lost++; resolve(); });
    sent.end(JSON.stringify({ language: 'python', code: 'import time\ntime.sleep(50)' }));
    open.push(sent);
  });
}

const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
const body = JSON.stringify({ language: 'python', code: 'import math\nrows = [math.sqrt(n) for n in range(100)]\nprint(sum(rows))\n' });
const times = [];
let failures = 0;
function call() {
  return new Promise((resolve) => {
    const began = process.hrtime.bigint();
    const sent = request(new URL('/v1/check', url), { agent, method: 'POST', headers: { 'Content-Type': 'application/json', 'Content-Length': body.length } }, (answer) => {
      answer.resume();
      answer.once('end', () => { if (answer.statusCode !== 200) failures++; times.push(Number(process.hrtime.bigint() - began) / 1e6); resolve(); });
    });
    sent.once('error', () => { failures++; resolve(); });
    sent.end(body);
  });
}
async function callers(seconds) {
  const end = Date.now() + seconds * 1000;
  await Promise.all(Array.from({ length: CALLERS }, async () => { while (Date.now() < end) await call(); }));
}
await callers(Math.min(5, SECONDS)); // excludes the memory that the first requests allocate
times.length = 0;
const before = memory();
await callers(SECONDS);
const after = memory();
times.sort((a, b) => a - b);
const at = (p) => times[Math.min(times.length - 1, Math.floor(times.length * p))];
console.log(`load: ${IDLE} idle streams, ${CALLERS} callers of /v1/check for ${SECONDS} s: ${times.length} requests, ${(times.length / SECONDS).toFixed(0)}/s, ${failures} failed, ${lost} of the streams lost`);
console.log(`load, p99 over p50: ${at(0.99).toFixed(1)} ms, ${at(0.5).toFixed(1)} ms, ratio ${(at(0.99) / at(0.5)).toFixed(1)} (at most 10)`);
let grew = false;
for (const [name, kib] of Object.entries(after)) {
  const was = before[name] ?? kib;
  console.log(`load, memory of ${name}: ${(kib / 1024).toFixed(1)} MiB after, ${(was / 1024).toFixed(1)} MiB before, ${(kib / was).toFixed(2)} times that`);
  grew ||= kib > was * 1.2 + 2048;
}
for (const stream of open.splice(0)) stream.destroy();
agent.destroy();
child.kill('SIGTERM');
await Promise.race([once(child, 'exit'), sleep(20000)]);
rmSync(state, { recursive: true, force: true });
const good = failures === 0 && lost === 0 && at(0.99) <= 10 * at(0.5) && !grew;
if (!good) console.log('load: FAILED');
process.exit(good ? 0 : 1);
