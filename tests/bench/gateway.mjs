// SPDX-License-Identifier: MIT
// Gateways for the benchmarks that need an engine, and the functions that time them. A gateway that
// still runs at the end of the process is ended.
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { promisify } from 'node:util';

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
// Times in ms. `part` of the times are at most the result.
export const quantile = (times, part) => [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))];
export const median = (times) => quantile(times, 0.5);
export const since = (began) => performance.now() - began;
export const timed = async (work) => { const began = performance.now(); await work(); return since(began); };
export const ms = (time) => (Math.abs(time) < 10 ? time.toFixed(2) : time.toFixed(0));
export const run = promisify(execFile);

const agent = new http.Agent({ keepAlive: true });
const masters = new Set();
process.on('exit', () => masters.forEach((master) => master.kill('SIGTERM')));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

// Returns a function that starts a gateway with these options, its state in a folder of this name.
export const gateways = (codebox, folder) => async (name, options, token) => {
  const state = `${folder}/${name}`, log = `${state}.log`;
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const master = spawn(codebox, ['serve', '--state', state, '--listen', '127.0.0.1:0', ...options], { stdio: ['ignore', 'ignore', openSync(log, 'w')] });
  masters.add(master);
  master.on('exit', () => masters.delete(master));
  let base;
  while (!(base = /serving on (http:[^,]*),/.exec(readFileSync(log, 'utf8'))?.[1])) {
    if (master.exitCode !== null) throw new Error(readFileSync(log, 'utf8'));
    await sleep(20);
  }
  const send = (method, path, body, type) => new Promise((resolve, reject) => {
    const headers = { ...(token && { Authorization: `Bearer ${token}` }), ...(body && { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) }) };
    const request = http.request(base + path, { method, agent, headers }, (answer) => {
      const pieces = [];
      answer.on('data', (d) => pieces.push(d)).on('end', () => {
        const bytes = Buffer.concat(pieces);
        if (answer.statusCode < 300) resolve(bytes);
        else reject(new Error(`${path}: ${answer.statusCode} ${bytes.toString().slice(0, 300)}`));
      });
    });
    request.on('error', reject).end(body);
  });
  const ask = async (method, path, json) => JSON.parse(await send(method, path, json && JSON.stringify(json), 'application/json'));
  const children = readFileSync(`/proc/${master.pid}/task/${master.pid}/children`, 'utf8').split(' ').filter(Boolean);
  const rss = (which) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${children.find((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === which)}/status`, 'utf8'))[1]) / 1024;
  return {
    send, ask, rss,
    once: async (code = 'print(1)') => { const r = await ask('POST', '/v1/executions', { code }); if (r.status !== 'completed') throw new Error(JSON.stringify(r).slice(0, 300)); },
    // Waits until so many sandboxes are ready, and prewarmed.
    filled: async (count = 2) => { for (let i = 0; i < 400; i++, await sleep(50)) { const { pool } = await ask('GET', '/healthz'); if (pool.ready >= count && pool.making === 0) break; } await sleep(1000); },
    pids: () => [...children, ...children.flatMap((pid) => { try { return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean); } catch { return []; } })],
    stop: () => new Promise((resolve) => { master.on('exit', resolve); master.kill('SIGTERM'); }),
  };
};
