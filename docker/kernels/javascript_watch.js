// SPDX-License-Identifier: MIT
// Reads what the supervisor says, in a thread of its own, so that an interrupt is heard while a program holds the event loop. A main
// thread that does not answer within a moment is in such a program: V8 terminates what it executes, and the state stays.
'use strict';
const inspector = require('inspector');
const net = require('net');
const { parentPort, workerData } = require('worker_threads');

const { shared, channel } = workerData;
const { compareExchange, load, notify, store } = Atomics;
const GUARD = 0, WANTED = 1, ENDED = 2, ASKED = 3; // see javascript_kernel.js
const RUN_HEAD = 40;
const MOMENT_MS = 100;

let started = 0;

function interrupt(number) {
  if (load(shared, ENDED) >= number) return;
  store(shared, ASKED, number);
  parentPort.postMessage({ interrupted: number });
  setTimeout(terminate, MOMENT_MS, number);
}

// Not while a frame is being written: half of one would be the end of the sandbox.
function terminate(number) {
  if (load(shared, ENDED) >= number) return;
  store(shared, WANTED, 1);
  if (compareExchange(shared, GUARD, 0, 2) !== 0) {
    setTimeout(terminate, 1, number);
    return;
  }
  release(WANTED);
  if (load(shared, ENDED) >= number) {
    release(GUARD);
    return;
  }
  // Connected only now: a process to which somebody is connected waits at its exit.
  const session = new inspector.Session();
  session.connectToMainThread();
  session.post('Runtime.terminateExecution', () => {
    session.disconnect();
    release(GUARD);
    setTimeout(interrupt, MOMENT_MS, number);
  });
}

function release(what) {
  store(shared, what, 0);
  notify(shared, what);
}

let inbox = Buffer.alloc(0);
const control = new net.Socket({ fd: channel, readable: true, writable: false });
control.on('data', (chunk) => {
  inbox = inbox.length > 0 ? Buffer.concat([inbox, chunk]) : chunk;
  while (inbox.length >= 5 && inbox.length >= 5 + inbox.readUInt32LE(1)) {
    const type = String.fromCharCode(inbox[0]);
    const payload = inbox.subarray(5, 5 + inbox.readUInt32LE(1));
    inbox = inbox.subarray(5 + payload.length);
    if (type === 'E') {
      started++;
      parentPort.postMessage({ code: payload.subarray(RUN_HEAD).toString('utf8') });
    } else if (type === 'I') {
      interrupt(started);
    }
  }
});
control.on('close', () => process.kill(process.pid, 'SIGKILL'));
