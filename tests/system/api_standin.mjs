// SPDX-License-Identifier: MIT
// A stand-in of an API server of Kubernetes that has no Pods: api_standin.mjs CERTIFICATE KEY TOKEN-FILE. It takes the token that the file
// has now, prints its port, and then a line for each request: the status, the method and the path.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const [certificate, key, tokens] = process.argv.slice(2);
const answers = [
  [/^\/version$/, 200, { gitVersion: 'v1.33.0', major: '1', minor: '33' }],
  [/^\/apis\/authorization\.k8s\.io\/v1\/selfsubjectaccessreviews$/, 201, { status: { allowed: true } }],
  [/\/networkpolicies$/, 200, { items: [{ spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] } }] }],
  [/\/pods$/, 200, { kind: 'PodList', metadata: { resourceVersion: '1' }, items: [] }],
  [/^\/api\/v1\/namespaces\/[a-z-]+$/, 200, { kind: 'Namespace' }],
];
const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (request, response) => {
  const path = request.url.split('?')[0];
  const known = request.headers.authorization === `Bearer ${readFileSync(tokens, 'utf8').trim()}`;
  const [, status, body] = known ? answers.find(([pattern]) => pattern.test(path)) ?? [0, 404, {}] : [0, 401, {}];
  console.log(status, request.method, path);
  request.resume();
  response.writeHead(status, { 'Content-Type': 'application/json' });
  if (request.url.includes('watch=true')) return response.flushHeaders();
  response.end(JSON.stringify(body));
});
server.listen(0, '127.0.0.1', () => console.log('listening', server.address().port));
