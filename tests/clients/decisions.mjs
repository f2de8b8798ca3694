// SPDX-License-Identifier: MIT
// Approval over REST on a real engine: the principals that may approve, the approved runs, and the
// records of the audit log.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { audit, check, codebox, finish, must, records, startServe, state, stopServe } from './checks.mjs';

const policy = `${state}/asking.yaml`, config = `${state}/codebox.yaml`;
writeFileSync(policy, `version: 1
name: asking
description: As the default; wave needs approval.
extends: [default]
rules:
  - id: test.ask
    languages: [python]
    match: {import: [wave]}
    effect: ask
    severity: medium
    message: Sound files are made with approval only.
`);
const guarded = `${state}/guarded.yaml`;
writeFileSync(guarded, `version: 1
name: guarded
description: Starting programs is not denied before, and refused while a program runs.
extends: [permissive]
guard: {start-process: refuse}
`);
const careful = `${state}/careful.yaml`;
writeFileSync(careful, `version: 1
name: careful
description: Nobody approves what it runs itself.
extends: [asking.yaml]
four-eyes: true
`);
writeFileSync(config, `policy: [${policy}, ${guarded}, ${careful}]
principals:
  - {name: ann}
  - {name: boss, rights: [approve, "audit:read"]}
  - {name: peer, rights: [approve, check, execute]}
`);
const tokens = Object.fromEntries(['ann', 'boss', 'peer'].map((name) => [name, execFileSync(codebox, ['token', 'create', '--state', state, '--principal', name], { stdio: ['ignore', 'pipe', 'ignore'] }).toString().trim()]));
const server = await startServe('--config', config);

async function call(who, method, path, body) {
  const answer = await fetch(new URL(path, server.url), { method, headers: { Authorization: `Bearer ${tokens[who]}`, ...(body ? { 'Content-Type': 'application/json' } : {}) }, body: body && JSON.stringify(body) });
  return { status: answer.status, ...(await answer.json()), http: answer.status };
}
const code = 'import wave\nprint("ran", 6 * 7)';
const ask = (more = {}) => call('ann', 'POST', '/v1/executions', { language: 'python', code, ...more });
const answer = (who, id, what) => call(who, 'POST', `/v1/decisions/${id}/${what}`);

await check('a denial says how it is approved, and is listed with its place', async () => {
  const denied = await ask();
  must(denied.http === 400 && denied.verdict === 'ask' && denied.detail.includes(`POST /v1/decisions/${denied.decision}/approve`) && denied.detail.includes(`"approval": "${denied.decision}"`), denied);
  const shown = await call('boss', 'GET', `/v1/decisions/${denied.decision}`);
  must(shown.code === code && shown.findings[0].line === 1 && shown.principal === 'ann' && shown.approval.state === 'waiting', shown);
});

await check('it runs once after a principal with the right approved it', async () => {
  const { decision } = await ask();
  must((await answer('ann', decision, 'approve')).http === 403, 'ann lacks the right');
  must((await answer('peer', decision, 'approve')).http === 404, 'peer does not see it');
  must((await ask({ approval: decision })).http === 409, 'nobody approved it');
  must((await answer('boss', decision, 'approve')).approval.state === 'approved', 'the approval');
  const ran = await ask({ approval: decision });
  must(ran.http === 200 && ran.output[0].text === 'ran 42\n' && ran.approved_by.principal === 'boss', ran);
  must((await ask({ approval: decision })).http === 409, 'it ran twice');
  must(ran.decision !== decision, 'the decision that was shown');
  const record = records().find((r) => r.type === 'approval');
  must(record.body.approved_by.principal === 'boss' && record.body.how === 'rest' && record.body.asked === decision && record.body.decision === ran.decision && record.body.principal === 'ann', record);
  must(/principal boss \(token [0-9a-f]{12}\) accepted test\.ask \(rest\)/.test(audit('tail')), audit('tail'));
});

await check('what was denied, and code that changed, do not run', async () => {
  const one = await ask();
  await answer('boss', one.decision, 'deny');
  must((await ask({ approval: one.decision })).http === 409, 'denied');
  const two = await ask();
  await answer('boss', two.decision, 'approve');
  const changed = await ask({ approval: two.decision, code: `${code}\nprint("more")` });
  must(changed.http === 400 && changed.verdict === 'ask' && changed.decision !== two.decision, changed);
  const ran = await ask({ approval: two.decision });
  must(ran.http === 200 && ran.approved_by.principal === 'boss', 'the approval was not spent by other code');
  const both = await ask();
  await answer('boss', both.decision, 'approve');
  const many = await Promise.all([1, 2, 3, 4].map(() => ask({ approval: both.decision })));
  must(many.filter((one) => one.http === 200).length === 1 && many.filter((one) => one.http === 409).length === 3, many.map((one) => one.http));
});

await check('under a policy with four-eyes nobody approves what it runs', async () => {
  const send = (more = {}) => call('peer', 'POST', '/v1/executions', { language: 'python', policy: 'careful', code, ...more });
  const { decision } = await send();
  const own = await answer('peer', decision, 'approve');
  must(own.http === 403 && own.detail.includes('four-eyes'), own);
  must((await send({ approval: decision })).http === 409, 'nobody approved it');
  must((await answer('boss', decision, 'approve')).http === 200, 'the approval of another');
  must((await send({ approval: decision })).http === 200, 'it runs');
});

await check('an approval for a session is void once something else ran in it', async () => {
  const { session_id } = await call('ann', 'POST', '/v1/sessions', { language: 'python' });
  const one = await ask({ session_id });
  await answer('boss', one.decision, 'approve');
  await call('ann', 'POST', '/v1/executions', { session_id, code: 'print = None' });
  const again = await ask({ session_id, approval: one.decision });
  must(again.http === 400 && again.verdict === 'ask', again);
  must((await answer('boss', again.decision, 'approve')).http === 200, 'approval');
  const ran = await ask({ session_id, approval: again.decision });
  must(ran.http === 200 && ran.outcome === 'error' && ran.error.ename === 'TypeError', ran);
});

await check('what the guard refused stands in the decision', async () => {
  const ran = await call('ann', 'POST', '/v1/executions', { language: 'python', policy: 'guarded', code: 'import os\nos.system("id")' });
  must(ran.http === 200 && ran.blocked.length > 0, ran);
  const { run } = await call('boss', 'GET', `/v1/decisions/${ran.decision}`);
  must(run.blocked[0].capability === 'start-process' && run.outcome === ran.outcome && run.duration_ms === ran.duration_ms, run);
});

must((await stopServe(server)) === 0, 'the end of the server');
await check('the audit log verifies', async () => { audit('verify'); });
finish();
