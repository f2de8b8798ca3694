// SPDX-License-Identifier: MIT
// End to end over REST: x += 1 in an open session, from the request to its results. Usage: rest.mjs URL
const base = process.argv[2];
const post = async (path, body) => (await fetch(base + path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })).json();
const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
const { session_id } = await post('/sessions', {});
const run = async (code) => {
  const { request_id } = await post('/execute', { session_id, code });
  for (;;) {
    const answer = await fetch(`${base}/execute/${request_id}/results`);
    const results = await answer.json();
    if (answer.status === 200) return results;
  }
};
await run('x = 0');
const end = [], health = [];
for (let i = 0; i < 300; i++) {
  let began = performance.now();
  await (await fetch(`${base}/healthz`)).json();
  health.push(performance.now() - began);
  began = performance.now();
  await run('x += 1');
  end.push(performance.now() - began);
}
const [e, h] = [median(end), median(health)];
console.log(`session, x += 1 over REST (execute, then results): p50 ${e.toFixed(2)} ms, ${(e / h).toFixed(1)} times a GET /healthz of ${h.toFixed(2)} ms (budget 2.5 ms)`);
await fetch(`${base}/sessions/${session_id}`, { method: 'DELETE' });
