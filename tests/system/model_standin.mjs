// SPDX-License-Identifier: MIT
// A stand-in of a model's API, in both forms of the examples. It first writes a program that the
// policy denies, then an allowed one, then one that uses a variable of the previous program, and
// then responds with the tool's output. Prints its port.
import { createServer } from 'node:http';

const programs = ['import subprocess\nprint(subprocess.run("id"))', 'primes = [n for n in range(2, 1000) if all(n % d for d in range(2, n))]\nprint(len(primes))', 'print(primes[-1])'];
const refuse = (text) => { throw new Error(text); };

// Returns the results of the tool in a round of a conversation, in order.
const forms = [{
  matches: (request) => request.url === '/v1/chat/completions' && request.headers.authorization === 'Bearer key',
  results: ({ messages, tools }) => (tools[0].function.parameters.required[0] === 'code' || refuse('no parameters')) && messages.filter((m) => m.role === 'tool').map((m) => m.content),
  call: (code, i) => ({ choices: [{ message: { role: 'assistant', content: null, tool_calls: [{ id: `call_${i}`, type: 'function', function: { name: 'run_python', arguments: JSON.stringify({ code }) } }] } }] }),
  say: (content) => ({ choices: [{ message: { role: 'assistant', content } }] }),
}, {
  matches: (request) => request.url === '/v1beta/models/stand-in:generateContent' && request.headers['x-goog-api-key'] === 'key',
  results: ({ contents, tools }) => (tools[0].functionDeclarations[0].parameters.required[0] === 'code' || refuse('no parameters')) && contents.flatMap((c) => c.parts).filter((p) => p.functionResponse).map((p) => p.functionResponse.response.result),
  call: (code) => ({ candidates: [{ content: { role: 'model', parts: [{ functionCall: { name: 'run_python', args: { code } } }] } }] }),
  say: (text) => ({ candidates: [{ content: { role: 'model', parts: [{ text }] } }] }),
}];

const server = createServer(async (request, answer) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  const form = forms.find((f) => f.matches(request));
  if (!form) return answer.writeHead(404).end('{}');
  const results = form.results(JSON.parse(text));
  const next = results.length < programs.length ? form.call(programs[results.length], results.length) : form.say(results.map((r) => r.trim()).join(' | '));
  answer.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(next));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
