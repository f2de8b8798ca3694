// SPDX-License-Identifier: MIT
// Prints "NAME COUNT" for each process of a gateway: the number of occurrences of the values in its
// memory. Arguments: the master's process, the values. Needs the right to read the memory of other
// processes, such as root's.
import { openSync, readSync, closeSync, readFileSync, readdirSync } from 'node:fs';

const [master, ...values] = process.argv.slice(2);
const PART = 1 << 20;

function* tree(pid) {
  yield pid;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    for (const child of readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').trim().split(' ')) if (child) yield* tree(child);
  }
}

function count(pid) {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  let found = 0;
  for (const line of readFileSync(`/proc/${pid}/maps`, 'latin1').trim().split('\n')) {
    const [, from, to] = /^(\w+)-(\w+) r/.exec(line) ?? [];
    if (from === undefined || /\[v/.test(line)) continue;
    const begin = BigInt(`0x${from}`), end = BigInt(`0x${to}`);
    for (let at = begin; at < end; at += BigInt(PART)) {
      const part = Buffer.alloc(Number(end - at > PART + 256 ? PART + 256 : end - at)); // a value may be in two parts
      let read = 0;
      try {
        read = readSync(memory, part, 0, part.length, at);
      } catch {
        continue;
      }
      for (const value of values) if (part.subarray(0, read).includes(value, 0, 'latin1')) found++;
    }
  }
  closeSync(memory);
  return found;
}

for (const pid of tree(master)) console.log(readFileSync(`/proc/${pid}/comm`, 'latin1').trim(), count(pid));
