// SPDX-License-Identifier: MIT
// A stand-in of a container engine for commands that only query it: engine_standin.mjs SOCKET INFO
// IMAGES. INFO is the response to /info, IMAGES the names of its images, separated by commas.
// Prints a line when it listens.
import { createServer } from 'node:http';

const [socket, info, images] = process.argv.slice(2);
const answers = [
  [/\/_ping$/, () => 'OK'],
  [/\/version$/, () => '{"ApiVersion": "1.41", "Version": "20.10.24"}'],
  [/\/info$/, () => info],
  [/\/images\/(.+)\/json$/, (name) => images.split(',').includes(decodeURIComponent(name)) && JSON.stringify({ Id: `sha256:${'0'.repeat(64)}`, Size: 1, Config: { Labels: {} } })],
];
createServer((request, answer) => {
  for (const [path, text] of answers) {
    const match = path.exec(request.url.split('?')[0]);
    const body = match && text(match[1]);
    if (body) return answer.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
  }
  answer.writeHead(404).end('{"message": "no such thing"}');
}).listen(socket, () => console.log('listening'));
