// SPDX-License-Identifier: MIT
// The watcher thread: reads the channel, to receive an interrupt while a program blocks the event
// loop. If the main thread does not react within MOMENT_MS, V8 terminates its execution; the state
// stays.
'use strict';
const inspector = require('inspector');
const net = require('net');
const { parentPort, workerData } = require('worker_threads');

const { shared, channel } = workerData;
const { load, store } = Atomics;
const ENDED = 0, ASKED = 1; // see javascript_kernel.js
const MOMENT_MS = 50, PROD_MS = 10;

let { started } = workerData;
let isTerminating = false;

function interrupt(number) {
  if (load(shared, ENDED) >= number) return;
  store(shared, ASKED, number);
  parentPort.postMessage({ interrupted: number });
  setTimeout(terminate, MOMENT_MS, number);
}

// The run may end before V8 has the request, and V8 then terminates the next call of the main
// thread. So no frame is passed on until V8 reports the termination: it would hit the next run.
function terminate(number) {
  if (load(shared, ENDED) >= number) return;
  isTerminating = true;
  // Connects only for a termination: a process with a connected inspector waits at its exit.
  const session = new inspector.Session();
  session.connectToMainThread();
  // A main thread that waits makes no call that V8 can terminate, but the one for a message.
  const prods = setInterval(() => parentPort.postMessage({ interrupted: number }), PROD_MS);
  session.post('Runtime.terminateExecution', () => {
    session.disconnect();
    clearInterval(prods);
    isTerminating = false;
    parentPort.postMessage({ interrupted: number }); // also completes a frame whose write was terminated
    setTimeout(interrupt, MOMENT_MS, number);
    takeFrames();
  });
}

let inbox = Buffer.from(workerData.inbox);
function takeFrames() {
  while (!isTerminating && inbox.length >= 5 && inbox.length >= 5 + inbox.readUInt32LE(1)) {
    const type = String.fromCharCode(inbox[0]);
    const payload = inbox.subarray(5, 5 + inbox.readUInt32LE(1));
    inbox = inbox.subarray(5 + payload.length);
    if (type === 'h') {
      parentPort.postMessage({ hashes: payload });
    } else if (type === 'E') {
      started++;
      parentPort.postMessage({ run: payload });
    } else if (type === 'I') {
      interrupt(started);
    } else if (type === 'w') {
      parentPort.postMessage({ warm: true });
    }
  }
}
const control = new net.Socket({ fd: channel, readable: true, writable: false });
control.on('data', (chunk) => {
  inbox = inbox.length > 0 ? Buffer.concat([inbox, chunk]) : chunk;
  takeFrames();
});
control.on('close', () => process.kill(process.pid, 'SIGKILL'));
