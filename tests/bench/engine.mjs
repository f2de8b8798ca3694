// SPDX-License-Identifier: MIT
// The figures that need an engine, each with a baseline of the same run, interleaved with it. Other
// processes may load the machine: compare ratios, not times. Usage: engine.mjs CODEBOX FOLDER [PART
// ...]
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { gateways, median, ms, run, since, sleep, timed } from './gateway.mjs';

const [codebox, folder, ...parts] = process.argv.slice(2);
const gateway = gateways(codebox, folder);
const nameOf = (pid) => { try { return readFileSync(`/proc/${pid}/comm`, 'utf8').trim(); } catch { return ''; } };

// --- the engine, by bare calls
const socketPath = (process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock').replace('unix://', '');
const engineAgent = new http.Agent({ keepAlive: true });
const engine = (method, path, json) => new Promise((resolve, reject) => {
  const body = json && JSON.stringify(json);
  http.request({ socketPath, agent: engineAgent, method, path: `/v1.41${path}`, headers: body ? { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) } : {} }, (answer) => {
    let text = '';
    answer.on('data', (d) => { text += d; }).on('end', () => (answer.statusCode < 300 ? resolve(text ? JSON.parse(text) : {}) : reject(new Error(`${path}: ${answer.statusCode} ${text}`))));
  }).on('error', reject).end(body);
});
const attach = (id) => new Promise((resolve, reject) => {
  http.request({ socketPath, method: 'POST', path: `/v1.41/containers/${id}/attach?stream=1&stdin=1&stdout=1&stderr=1`, headers: { Connection: 'Upgrade', Upgrade: 'tcp' } })
    .on('upgrade', (answer, socket) => resolve(socket)).on('error', reject).end();
});
// The request body of a sandbox, as the engine reports it: the same image, command and limits.
const bodyOf = async (id) => {
  const { Config: c, HostConfig: h } = await engine('GET', `/containers/${id}/json`);
  return { ...c, Labels: {}, HostConfig: h };
};
// Waits until the supervisor responds to a host with valid authentication.
const cold = async (body) => {
  const { Id } = await engine('POST', '/containers/create', body);
  const stream = await attach(Id);
  const first = new Promise((resolve) => stream.once('data', resolve));
  await engine('POST', `/containers/${Id}/start`);
  const hello = Buffer.alloc(25);
  hello.write('A');
  hello.writeUInt32LE(20, 1);
  hello.writeUInt32LE(60000, 21);
  stream.write(Buffer.concat([randomBytes(32), hello]));
  await first;
  return { id: Id, stream };
};
const remove = async ({ id, stream }) => { stream.destroy(); await engine('DELETE', `/containers/${id}?force=true`).catch(() => {}); };

// --- the figures
const figures = {
  async warm() {
    const g = await gateway('warm', ['--pool-min', '3']);
    const ours = [], theirs = [];
    for (let i = 0; i < 15; i++) {
      await g.filled();
      ours.push(await timed(() => g.once()));
      if (i % 3 === 0) theirs.push(await timed(() => run('docker', ['run', '--rm', '--network', 'none', '--entrypoint', '/usr/bin/python3', 'codebox-python', '-c', 'print(1)'])));
    }
    console.log(`one-shot from the warm pool over REST: p50 ${ms(median(ours))} ms (best ${ms(Math.min(...ours))}), docker run of the same ${ms(median(theirs))} ms, ${(median(ours) / median(theirs)).toFixed(4)} times that (budget 5 ms, 0.015)`);
    await g.stop();
  },
  async cold() {
    const g = await gateway('cold', ['--pool-min', '1']);
    let size = 200; // limits for which the pool has no sandbox
    const open = async () => (await g.ask('POST', '/v1/sessions', { limits: { memory_bytes: ++size << 20 } })).session_id;
    const calm = async () => { for (let i = 0; i < 200 && (await g.ask('GET', '/healthz')).pool.making > 0; i++) await sleep(50); await sleep(300); };
    await calm();
    const close = (id) => g.ask('DELETE', `/v1/sessions/${id}`);
    const first = await open(), body = await bodyOf((await g.ask('GET', `/v1/sessions/${first}`)).container);
    await close(first);
    const ours = [], theirs = [], ratios = [];
    for (let i = 0; i < 11; i++) {
      let id, bare;
      ours.push(await timed(async () => { id = await open(); }));
      await close(id);
      await calm(); // excludes the removal of the sandbox, and the creation of the next one, from the time
      theirs.push(await timed(async () => { bare = await cold(body); }));
      await remove(bare);
      await calm();
      ratios.push(ours.at(-1) / theirs.at(-1));
    }
    console.log(`cold sandbox, POST /v1/sessions without a pool: p50 ${ms(median(ours))} ms, bare create + attach + start + first output ${ms(median(theirs))} ms, ${(median(ours) / median(theirs)).toFixed(2)} times that, pairs ${median(ratios).toFixed(2)} (budget 1.10)`);
    await g.stop();
  },
  async rate() {
    const g = await gateway('rate', ['--pool-min', '4']);
    await g.filled();
    const began = performance.now(), answers = await Promise.allSettled(Array.from({ length: 50 }, () => g.once()));
    const lost = answers.filter((a) => a.status === 'rejected');
    const seconds = since(began) / 1000;
    await g.filled();
    const { session_id } = await g.ask('POST', '/v1/sessions', {});
    const body = await bodyOf((await g.ask('GET', `/v1/sessions/${session_id}`)).container);
    const rate = async (work) => {
      const end = performance.now() + 6000, start = performance.now();
      let count = 0;
      await Promise.all(Array.from({ length: 4 }, async () => { while (performance.now() < end) { await work(); count++; } }));
      return count / (since(start) / 1000);
    };
    const ours = [], theirs = [];
    for (let i = 0; i < 3; i++) {
      ours.push(await rate(() => g.once()));
      await g.filled();
      theirs.push(await rate(async () => remove(await cold(body))));
    }
    console.log(`burst of 50 one-shot runs: ${50 - lost.length} succeed (budget: all), in ${seconds.toFixed(1)} s, 50 bare ones ${(50 / median(theirs)).toFixed(1)} s, ${(seconds * median(theirs) / 50).toFixed(2)} times that${lost.length ? ` ${lost[0].reason}` : ''}`);
    console.log(`one-shot runs, 4 at a time: ${median(ours).toFixed(1)}/s, bare create + start + first output + remove ${median(theirs).toFixed(1)}/s, ${(median(ours) / median(theirs)).toFixed(2)} times that`);
    await g.stop();
  },
  async session() {
    const g = await gateway('session', []);
    const { session_id } = await g.ask('POST', '/v1/sessions', {});
    await g.ask('POST', '/v1/executions', { session_id, code: 'x = 0' });
    await g.filled();
    const alone = async () => Number((await run('docker', ['run', '--rm', '--network', 'none', '--cpus', '1', '-v', `${process.cwd()}/tests/bench/kernel.py:/kernel.py:ro`, '--entrypoint', '/usr/bin/python3', 'codebox-python', '/kernel.py', '300'])).stdout);
    const kernel = [], ours = [];
    for (let i = 0; i < 3; i++) {
      kernel.push(await alone());
      const times = [];
      for (let k = 0; k < 200; k++) times.push(await timed(() => g.ask('POST', '/v1/executions', { session_id, code: 'x += 1' })));
      ours.push(median(times));
    }
    const [o, k] = [median(ours), median(kernel)];
    console.log(`session, x += 1 over REST (answered at once): p50 ${ms(o)} ms, the cell alone in the kernel ${ms(k)} ms, ${(o - k).toFixed(2)} ms more (budget 2 ms), ${(o / k).toFixed(2)} times that`);
    await g.ask('DELETE', `/v1/sessions/${session_id}`);
    await g.stop();
  },
  // The same call by both APIs of one server, and by a server over stdio, in turns.
  async mcp() {
    const g = await gateway('mcp', []);
    const { session_id } = await g.ask('POST', '/v1/sessions', {});
    const rest = (code) => g.ask('POST', '/v1/executions', { session_id, code });
    let id = 0;
    const call = (name, args) => ({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params: { name, arguments: args } });
    const http = (code, session) => g.ask('POST', '/mcp', call('execute_code', session ? { code, session } : { code }));
    const state = `${folder}/stdio`;
    mkdirSync(state, { recursive: true, mode: 0o700 });
    const server = spawn(codebox, ['mcp', '--state', state], { stdio: ['pipe', 'pipe', 'ignore'] });
    const waiting = new Map();
    let rest_of_line = '';
    server.stdout.on('data', (d) => {
      const lines = (rest_of_line + d).split('\n');
      rest_of_line = lines.pop();
      for (const line of lines) { const answer = JSON.parse(line); waiting.get(answer.id)?.(answer.result); }
    });
    const stdio = (code, session) => new Promise((resolve) => {
      const message = call('execute_code', { code, session });
      waiting.set(message.id, resolve);
      server.stdin.write(`${JSON.stringify(message)}\n`);
    });
    await rest('x = 0');
    const { session } = (await stdio('x = 0', 'new')).structuredContent;
    await g.filled();
    const [byRest, byHttp, byStdio, more] = [[], [], [], []];
    for (let k = 0; k < 300; k++) {
      byRest.push(await timed(() => rest('x += 1')));
      byHttp.push(await timed(() => http('x += 1', session_id)));
      byStdio.push(await timed(() => stdio('x += 1', session)));
      more.push(byHttp.at(-1) - byRest.at(-1));
    }
    const restMs = median(byRest), times = (more) => `${(median(more) / restMs).toFixed(2)} times that`;
    console.log(`session, x += 1 over MCP and HTTP: p50 ${ms(median(byHttp))} ms, over REST ${ms(restMs)} ms, ${times(byHttp)}, in pairs ${median(more).toFixed(2)} ms more (budget 1 ms)`);
    console.log(`session, x += 1 over MCP and stdio: p50 ${ms(median(byStdio))} ms, over REST ${ms(restMs)} ms, ${times(byStdio)}`);
    const shots = [], restShots = [];
    for (let i = 0; i < 9; i++) {
      await g.filled();
      shots.push(await timed(() => http('print(1)')));
      await g.filled();
      restShots.push(await timed(() => g.once()));
    }
    console.log(`one-shot from the warm pool over MCP: p50 ${ms(median(shots))} ms, over REST ${ms(median(restShots))} ms, ${(median(shots) / median(restShots)).toFixed(2)} times that`);
    server.stdin.end();
    await g.stop();
  },
  async guard() { // ordinary calls under the guard of `default`, and in the same image without filter and hook
    const g = await gateway('guard', []), code = readFileSync('tests/bench/guarded.py', 'utf8');
    const { session_id } = await g.ask('POST', '/v1/sessions', {});
    const numbers = (text) => text.trim().split(' ').map(Number), ratios = [[], []];
    for (let i = 0; i < 5; i++) {
      const ours = numbers((await g.ask('POST', '/v1/executions', { session_id, code })).output.map((o) => o.text ?? '').join(''));
      const theirs = numbers((await run('docker', ['run', '--rm', '--network', 'none', '--cpus', '1', '--tmpfs', '/workspace:uid=65532,gid=65532', '-v', `${process.cwd()}/tests/bench/guarded.py:/guarded.py:ro`, '-w', '/workspace', '--entrypoint', '/usr/bin/python3', 'codebox-python', '/guarded.py'])).stdout);
      ratios.forEach((r, k) => r.push(ours[k] / theirs[k]));
    }
    console.log(`the guard, Python, a loop of ordinary calls: ${median(ratios[0]).toFixed(3)} times that of the image alone (budget 1.02)`);
    console.log(`the guard, Python, a loop of small files: ${median(ratios[1]).toFixed(3)} times that of the image alone (budget 1.1)`);
    await g.ask('DELETE', `/v1/sessions/${session_id}`);
    await g.stop();
  },
  async calls() { // system calls of each process per run in an open session
    if (!(await run('strace', ['-V']).then(() => true, () => false))) { console.log('system calls per run: left out, strace is not installed'); return; }
    const g = await gateway('calls', []), counts = [], RUNS = 100;
    const { session_id } = await g.ask('POST', '/v1/sessions', {});
    const one = () => g.ask('POST', '/v1/executions', { session_id, code: 'x = 1' });
    await one();
    await g.filled();
    for (const pid of g.pids()) {
      const file = `${folder}/calls.${pid}`, name = nameOf(pid);
      if (name === '') continue; // a worker that has served its request
      const tracer = spawn('strace', ['-f', '-c', '-o', file, '-p', pid], { stdio: 'ignore' });
      await sleep(1000);
      for (let i = 0; i < RUNS; i++) await one();
      const ended = new Promise((resolve) => tracer.on('exit', resolve));
      tracer.kill('SIGINT');
      await ended;
      const total = Number(/^\S+\s+\S+\s+\S+\s+(\d+)\s.*total$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? 0);
      if (total >= RUNS) counts.push([name, total / RUNS]);
    }
    console.log(`system calls per run of x = 1 in an open session: ${counts.map(([name, n]) => `${name} ${n.toFixed(0)}`).join(', ')}; ${counts.reduce((sum, [, n]) => sum + n, 0).toFixed(0)} in all`);
    await g.stop();
  },
  async plot() {
    const g = await gateway('plot', ['--pool-min', '2']), first = [], second = [];
    for (let i = 0; i < 5; i++) {
      await g.filled();
      await sleep(3000);
      const { session_id } = await g.ask('POST', '/v1/sessions', {});
      const plot = () => timed(() => g.ask('POST', '/v1/executions', { session_id, code: 'import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()' }));
      first.push(await plot());
      second.push(await plot());
      await g.ask('DELETE', `/v1/sessions/${session_id}`);
    }
    console.log(`first plot of a pooled session: p50 ${ms(median(first))} ms, best ${ms(Math.min(...first))} ms (budget 500 ms), the second plot ${ms(median(second))} ms, ${(median(first) / median(second)).toFixed(2)} times that`);
    await g.stop();
  },
  async prints() {
    const g = await gateway('prints', []);
    const { session_id } = await g.ask('POST', '/v1/sessions', {});
    const print = (code) => timed(() => g.ask('POST', '/v1/executions', { session_id, code }));
    await print('x = 0');
    const many = [], one = [];
    for (let i = 0; i < 3; i++) {
      one.push(await print('print("\\n".join(str(i) for i in range(60000)))'));
      many.push(await print('for i in range(60000): print(i)'));
    }
    console.log(`60,000 small prints: p50 ${ms(median(many))} ms, the same text in one print ${ms(median(one))} ms, ${(median(many) / median(one)).toFixed(2)} times that (budget 1000 ms)`);
    await g.stop();
  },
  async memory() {
    const g = await gateway('memory', ['--max-sessions', '100']);
    const before = Object.fromEntries(['cbx-front', 'cbx-executor'].map((name) => [name, g.rss(name)])), ids = [];
    await Promise.all(Array.from({ length: 4 }, async () => { while (ids.length < 97) { ids.push('-'); ids.push((await g.ask('POST', '/v1/sessions', {})).session_id); ids.splice(ids.indexOf('-'), 1); } }));
    while (ids.length < 100) ids.push((await g.ask('POST', '/v1/sessions', {})).session_id);
    for (const [name, was] of Object.entries(before)) {
      const now = g.rss(name);
      console.log(`memory with ${ids.length} idle sessions, ${name}: ${now.toFixed(1)} MiB, without any ${was.toFixed(1)} MiB, ${(now / was).toFixed(2)} times that${name === 'cbx-front' ? ' (budget 20 MiB)' : ''}`);
    }
    await Promise.all(ids.map((id) => g.ask('DELETE', `/v1/sessions/${id}`)));
    await g.stop();
  },
};
for (const part of parts.length > 0 ? parts : Object.keys(figures)) await figures[part]();
process.exit(0);
