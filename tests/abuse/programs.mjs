// SPDX-License-Identifier: MIT
// Hostile programs, one row each: the sentence, the program, the expected result. `wall` is the
// time limit in seconds (10). run.mjs has the checks after each program. `then` runs afterwards,
// while the session is open.
import assert from 'node:assert/strict';

const ended = (r) => assert.ok(['ok', 'error'].includes(r.outcome), `ended by itself, not: ${r.outcome}`);
const fine = (r) => assert.equal(r.outcome, 'ok', JSON.stringify(r.error));
const raises = (name) => (r) => assert.equal(r.error?.ename, name, JSON.stringify(r.error)?.slice(0, 300));
const is = (...outcomes) => (r) => assert.ok(outcomes.includes(r.outcome), `${r.outcome}, not ${outcomes}: ${JSON.stringify(r.error)?.slice(0, 300)}`);
const any = () => {};
const text = (r, kind = 'stdout') => r.output.filter((o) => o.kind === kind).map((o) => o.text).join('');
const prints = (what) => (r) => assert.ok(text(r).includes(what), `prints ${what}: ${JSON.stringify([r.error, text(r).slice(0, 300)])}`);
const all = (...checks) => (r) => checks.forEach((check) => check(r));
const cut = (r) => assert.ok(r.truncated, 'the result says that output was cut');

// Processes besides PID 1 and the kernel; a zombie has no command line.
const alive = `
import os, time
time.sleep(.2)
print('alive:', [p for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid()) and open(f'/proc/{p}/cmdline').read()])
`;

const frames = `
import os, struct
def frame(kind, payload=b'', size=None):
    return struct.pack('<BI', ord(kind), len(payload) if size is None else size) + payload
`;

export const programs = [
  // --- processes and threads
  ['a fork bomb ends at the time limit', `
import os
while True:
    try: os.fork()
    except OSError: pass
`, is('timeout', 'killed', 'oom'), { wall: 2 }],
  ['a fork bomb of daemons that ignore signals ends with its kernel', `
import os, signal, time
for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)
while True:
    try:
        if os.fork() == 0: os.setsid()
    except OSError: pass
`, is('timeout', 'killed', 'oom'), { wall: 2 }],
  ['a fork bomb in the background does not outlive an interrupted run', `
import os, time
pid = os.fork()
if pid == 0:
    os.setsid()
    while True:
        try: os.fork()
        except OSError: pass
time.sleep(60)
`, is('timeout', 'killed'), { wall: 2, after: alive, prints: 'alive: []' }],
  ['processes that use up all places cannot keep the run from ending', `
import os, time
kids = []
try:
    while True:
        pid = os.fork()
        if pid == 0: time.sleep(100); os._exit(0)
        kids.append(pid)
except OSError as e: print('full', len(kids) > 10)
`, all(fine, prints('full True'))],
  ['threads end at the limit of processes', `
import threading, time
n = 0
try:
    while n < 10000:
        threading.Thread(target=time.sleep, args=(1,), daemon=True).start(); n += 1
except RuntimeError: print('full', n < 60)
`, all(fine, prints('full True'))],
  ['a program that ignores SIGINT and SIGTERM ends in time', `
import signal
for s in range(1, 32):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass
`, is('timeout'), { wall: 1 }],
  ['daemons that were forked twice end with the run that is interrupted', `
import os, time, signal
for i in range(5):
    if os.fork() == 0:
        os.setsid()
        for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)
        if os.fork() == 0:
            while True: time.sleep(1)
        os._exit(0)
while True: time.sleep(1)
`, is('timeout'), { wall: 1, after: alive, prints: 'alive: []' }],
  ['a program that stops itself ends in time', 'import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)', is('timeout'), { wall: 1 }],
  ['a program cannot kill or stop PID 1', `
import os, signal
for s in range(1, 65):
    if s not in (32, 33):
        try: os.kill(1, s)
        except OSError: pass
print('tried')
`, all(fine, prints('tried'))],
  ['a program that signals all processes ends, with a result', 'import os, signal\nos.kill(-1, signal.SIGKILL)', any],
  ['a program that kills itself is reported as killed', 'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)', is('killed')],
  ['a program that crashes is reported as killed', 'import ctypes\nctypes.string_at(0)', is('killed')],
  ['a program that calls _exit has its exit code', 'import os\nos._exit(3)', (r) => assert.equal(r.exit_code, 3)],
  ['a program that blocks all signals ends in time', `
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True: pass
`, is('timeout'), { wall: 1 }],
  ['a program that does not reap its children leaves nothing', `
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for i in range(30):
    if os.fork() == 0: os._exit(0)
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
for i in range(30):
    if os.fork() == 0: os._exit(0)
print('done')
`, all(fine, prints('done'))],
  ['a program cannot protect itself from the memory limit', `
for value in ('-1000', '-17', '0'):
    try: open('/proc/self/oom_score_adj', 'w').write(value)
    except OSError as e: print(type(e).__name__)
x = []
while True: x.append(bytearray(1 << 20))
`, is('oom', 'killed')],
  ['limits of its own that a program changes are its own matter', `
import resource
for name in dir(resource):
    if name.startswith('RLIMIT_'):
        which = getattr(resource, name)
        try: resource.setrlimit(which, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (OSError, ValueError): pass
print(resource.getrlimit(resource.RLIMIT_NOFILE)[1] <= 1024, resource.getrlimit(resource.RLIMIT_CORE)[1] == 0)
resource.setrlimit(resource.RLIMIT_NOFILE, (6, 6))
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
`, all(fine, prints('True True'))],
  ['a program without stack ends', 'import resource\nresource.setrlimit(resource.RLIMIT_STACK, (4096, 4096))\nresource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))\nx = bytearray(1 << 26)', any, { confuses: true }],

  // --- memory
  ['a memory bomb ends at the limit', 'x = []\nwhile True: x.append(bytearray(1 << 22))', is('oom', 'killed')],
  ['a memory bomb by mmap ends at the limit', `
import mmap
maps = []
while True:
    m = mmap.mmap(-1, 1 << 22, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
    for i in range(0, 1 << 22, 4096): m[i] = 1
    maps.append(m)
`, is('oom', 'killed'), { wall: 10 }],
  ['memory of many processes together ends at the limit', `
import os, time
for i in range(20):
    if os.fork() == 0:
        x = bytearray(b'x') * (1 << 24); time.sleep(30); os._exit(0)
time.sleep(30)
`, is('oom', 'killed', 'timeout'), { wall: 2 }],
  ['files in memory have their limits: /workspace, /tmp, /dev/shm', `
import os
for folder, most in (('/workspace', 64), ('/tmp', 16), ('/dev/shm', 16)):
    size = 0
    try:
        with open(folder + '/bomb', 'wb') as f:
            while size < 512: f.write(b'x' * (1 << 20)); f.flush(); size += 1
    except OSError as e: print(folder, size <= most, e.errno)
`, all(ended, prints('/workspace True'), prints('/tmp True'), prints('/dev/shm True'))],
  ['memory that is filled by files and then by the program ends at the limit', `
for folder in ('/workspace', '/tmp', '/dev/shm'):
    try:
        with open(folder + '/bomb', 'wb') as f:
            while True: f.write(b'x' * (1 << 20)); f.flush()
    except OSError: pass
x = []
while True: x.append(bytearray(1 << 20))
`, is('oom', 'killed')],
  ['anonymous files count as memory', `
import os
fds = []
while True:
    fds.append(os.memfd_create('x'))
    os.write(fds[-1], b'x' * (1 << 22))
`, is('oom', 'killed', 'error')],

  // --- files
  ['100,000 files end at the limit of inodes', `
n = 0
try:
    while n < 100000:
        open(f'/workspace/{n}', 'w').close(); n += 1
except OSError as e: print('full', n < 20000, e.errno)
`, all(ended, prints('full True')), { wall: 10, then: async (s, api) => {
      const put = await api.put(s, 'late.txt', 'x');
      assert.ok([201, 413].includes(put.status), `an upload without inodes: ${put.status} ${put.text}`);
      const listing = await api.list(s);
      assert.equal(listing.status, 200);
      assert.ok(listing.json.files.length > 10000, `${listing.json.files.length} are listed`);
    } }],
  ['descriptors end at the limit', `
import os
n = 0
try:
    while True: os.open('/dev/null', os.O_RDONLY); n += 1
except OSError as e: print('full', n < 1024, e.errno)
`, any],
  ['names that are no text, links, pipes and sockets are listed and read without harm', `
import os, socket
os.chdir('/workspace')
os.symlink('/usr/bin/env', 'link')
os.symlink('/', 'root')
os.symlink('loop', 'loop')
os.mkfifo('fifo')
socket.socket(socket.AF_UNIX).bind('socket')
with open('sparse', 'wb') as f: f.truncate(60 << 20)
with open('real', 'w') as f: f.write('real')
os.link('real', 'hard')
open('n' * 255, 'w').close()
open(b'line\\nbreak', 'w').close()
open(b'bad\\xff\\xfename', 'w').close()
open('\\x1b[31mred', 'w').close()
open('-rf', 'w').close()
open('"quote\\\\', 'w').close()
deep = '/workspace'
try:
    for i in range(40): deep += '/' + 'd' * 90; os.mkdir(deep)
except OSError: pass
os.mkdir('secret'); open('secret/x', 'w').close(); os.chmod('secret', 0)
open('locked', 'w').close(); os.chmod('locked', 0)
`, fine, { then: async (s, api) => {
      const listing = await api.list(s);
      assert.equal(listing.status, 200, listing.text);
      const names = listing.json.files.map((f) => f.name);
      for (const name of ['real', 'hard', 'sparse', 'n'.repeat(255), 'line\nbreak', '-rf', '"quote\\']) assert.ok(names.includes(name), `${name} is listed`);
      for (const name of ['link', 'root', 'loop', 'fifo', 'socket']) assert.ok(!names.includes(name), `${name} is not listed`);
      for (const name of ['link', 'root', 'loop', 'fifo', 'socket', 'root/etc/passwd', 'secret/x', 'locked', '../etc/passwd', '%2e%2e/%2e%2e/etc/passwd', 'sparse', 'n'.repeat(256), 'line%0abreak/x']) {
        const got = await api.get(s, name);
        assert.ok(got.status >= 400 && got.status < 500, `${name}: ${got.status}`);
        assert.ok(!got.text.includes('root:x:') && !got.text.includes('ELF'), `${name} is not read`);
      }
      assert.equal((await api.get(s, 'line%0Abreak')).status, 200);
      assert.equal((await api.get(s, 'n'.repeat(255))).status, 200);
      assert.equal((await api.get(s, 'hard')).text, 'real');
      for (const name of ['fifo', 'root', 'loop', 'link']) {
        const put = await api.put(s, name, 'x');
        assert.ok(put.status >= 400 && put.status < 500, `writing ${name}: ${put.status}`);
      }
    } }],
  ['a workspace that is renamed, removed or locked is an honest error', `
import os, shutil
for do in (lambda: os.rename('/workspace', '/tmp/w'), lambda: os.rmdir('/workspace'), lambda: shutil.rmtree('/workspace')):
    try: do()
    except OSError as e: print(type(e).__name__)
os.chmod('/workspace', 0)
`, fine, { then: async (s, api) => {
      for (const answer of [await api.list(s), await api.get(s, 'x'), await api.put(s, 'x', 'x')]) assert.ok(answer.status === 200 || (answer.status >= 400 && answer.status < 500), `${answer.status} ${answer.text}`);
    } }],
  ['a file that grows, shrinks and is replaced while it is listed and read does no harm', `
import os, threading, time
def churn():
    i = 0
    while True:
        i += 1
        try:
            with open('/workspace/f', 'wb') as f: f.write(b'x' * (i % 5000000))
            os.replace('/workspace/f', '/workspace/g')
            if i % 2: os.symlink('/usr/bin/env', '/workspace/f')
            else: os.mkdir('/workspace/f')
        except OSError: pass
        try: os.unlink('/workspace/f')
        except OSError:
            try: os.rmdir('/workspace/f')
            except OSError: pass
threading.Thread(target=churn, daemon=True).start()
`, fine, { then: async (s, api) => {
      for (let i = 0; i < 15; i++) {
        for (const answer of [await api.list(s), await api.get(s, 'f'), await api.get(s, 'g'), await api.put(s, 'f', 'mine')]) {
          assert.ok(answer.status < 500, `${answer.status} ${answer.text}`);
          assert.ok(!answer.text.includes('root:x:'));
        }
      }
    } }],

  // --- output
  ['a flood on stdout is cut at both ends', `
import sys
print('first')
for i in range(250000): sys.stdout.write('x' * 4000 + '\\n')
print('last')
`, all(cut, (r) => assert.ok(text(r).length <= 1 << 20), prints('first')), { wall: 8 }],
  ['a flood on the raw descriptors is cut', `
import os
block = b'y' * (1 << 20)
for i in range(1000): os.write(1, block); os.write(2, block)
`, all(cut, (r) => assert.ok(text(r).length + text(r, 'stderr').length <= 1 << 20)), { wall: 8 }],
  ['a flood of single characters on both streams is cut and costs no more than its limit', `
import os
while True: os.write(1, b'a'); os.write(2, b'b')
`, is('timeout'), { wall: 2 }],
  ['bytes that are no text, cut characters, NULs and escapes come out as text', `
import os, sys
sys.stdout.buffer.write(b'\\xff\\xfe\\x00mid\\x1b[2J\\x9b\\xc3'); sys.stdout.flush()
os.write(1, b'\\xe2\\x82'); os.write(1, b'\\xac'); os.write(2, b'\\xf0\\x9f\\x98')
print('\\udc80\\ud800')
print('end')
`, all(fine, prints('mid'), prints('end'))],
  ['100,000 displays are kept to the limit of files', "import IPython\nfor i in range(100000): display('x')\nprint('all')", any, { wall: 5 }],
  ['very many small pieces are all in the result, or it is marked as cut', `
import os
for i in range(60000): os.write(3, b'O\\1\\0\\0\\0a'); os.write(3, b'e\\1\\0\\0\\0b')
print('all')
`, all(ended, (r) => assert.ok(r.truncated || (text(r).length === 60004 && text(r, 'stderr').length === 60000), `${text(r).length} and ${text(r, 'stderr').length}`)), { wall: 15 }],
  ['figures over the limit of files are omitted, and the result is marked', `
from IPython.display import display
for i in range(40): display({'image/png': b'\\x89PNG' + bytes(1 << 20)}, raw=True)
`, (r) => assert.ok(r.files_truncated), { wall: 10 }],
  ['a deep recursion is an error', 'def f(): f()\nf()', raises('RecursionError')],
  ['a recursion without a limit ends the kernel at most', 'import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(): f()\nf()', is('killed', 'error', 'oom'), { wall: 8 }],
  ['a traceback of very many frames is cut', `
source = 'def f(n):\\n    ' + 'x' * 200 + ' = n\\n    return f(n - 1) if n else 1 / 0'
exec(source)
import sys
sys.setrecursionlimit(30000)
f(20000)
`, any],
  ['an exception with a huge text is cut', "raise ValueError('x' * 50_000_000)", raises('ValueError')],
  ['an exception with a huge text of other letters is cut', "raise ValueError('\\U0001F600\\n' * 1_000_000)", raises('ValueError')],
  ['an exception with text that is no text is an error', "raise ValueError('\\ud800' * 100_000)", raises('ValueError')],
  ['an exception whose text cannot be read is an error', `
class E(Exception):
    def __str__(self): raise SystemExit(7)
    __repr__ = __str__
raise E
`, ended],
  ['a chain of very many exceptions is an error', `
e = None
for i in range(20000):
    n = ValueError(str(i)); n.__context__ = e; e = n
raise e
`, ended, { wall: 10 }],
  ['an exception whose name is huge is an error', "raise type('E' * 1_000_000, (Exception,), {})('x')", ended],

  // --- the channel to the supervisor
  ['garbage on the channel ends the run, with a result', "import os\nos.write(3, os.urandom(1 << 16))", is('killed', 'error', 'ok')],
  ['a wrong length ends the run, with a result', frames + "os.write(3, frame('O', b'x', 0xffffffff))", is('killed')],
  ['half a frame ends at the time limit', frames + "os.write(3, frame('D', b'x' * 100, 60_000_000))\nwhile True: pass", is('timeout', 'killed'), { wall: 1 }],
  ['a huge frame that is whole costs no more than its limit', frames + "import socket\nsocket.socket(fileno=os.dup(3)).sendall(frame('D', bytes(60_000_000)))", any, { wall: 8 }],
  ...['A', 'L', 'T', 'E', 'W', 'K', 'I', 'r', 'i', 'w', 'P', 'G', 'l', 'd', 'H', 'a', 'U', 'N', 'Z'].map((kind) => [
    `a forged frame ${kind} is none of the kernel's`, frames + `os.write(3, frame('${kind}', bytes(4)))\nimport time; time.sleep(30)`, is('killed'), { brief: true }]),
  ['a flood of FINISH ends the run and nothing more', frames + `
import threading
def flood():
    while True: os.write(3, frame('F', bytes(4)))
threading.Thread(target=flood, daemon=True).start()
import time; time.sleep(30)
`, ended, { confuses: true }],
  ['a flood of READY and questions ends at the time limit', frames + "while True: os.write(3, frame('Y') + frame('q', b'\\0what?'))", is('timeout'), { wall: 2 }],
  ['a flood of errors ends at the time limit', frames + "while True: os.write(3, frame('X', b'{\"ename\": \"a\", \"evalue\": \"b\", \"traceback\": []}'))", is('timeout'), { wall: 2 }],
  ['bundles that are none are left out', frames + `
for payload in (b'', b'\\xff\\xff\\xff\\xff', b'\\2\\0\\0\\0[]', struct.pack('<I', 20) + b'[["text/plain", -1]]', struct.pack('<I', 30) + b'[["text/plain", 99999999999]]', struct.pack('<I', 12) + b'[["\\x1b", 1]]x'):
    os.write(3, frame('D', payload)); os.write(3, frame('R', payload))
for payload in (b'', b'{', b'[' * 100000, b'{"ename": 1, "evalue": null, "traceback": [1, {}, []]}'): os.write(3, frame('X', payload))
print('done')
`, all(ended, prints('done'))],
  ['a program that closes its channel ends in time', 'import os\nos.close(3)\nwhile True: pass', is('timeout', 'killed'), { wall: 1 }],
  ['a program that closes all its descriptors ends in time', 'import os\nfor fd in range(4): os.close(fd)\nwhile True: pass', is('timeout', 'killed'), { wall: 1 }],
  ['a program that closes all its descriptors and ends is over in time', 'import os\nos.closerange(0, 100)', any, { wall: 1 }],
  ['a program that reads its channel takes frames from its own kernel alone', 'import socket\nsocket.socket(fileno=3).settimeout(0.5)\nwhile True: pass', is('timeout', 'killed'), { wall: 1 }],
  ['a child that holds the descriptors open does not keep a dead kernel alive', `
import os, time
if os.fork() == 0:
    os.setsid(); time.sleep(100); os._exit(0)
os._exit(5)
`, (r) => assert.equal(r.exit_code, 5)],
];

export const javascripts = [
  ['JavaScript: a loop without end', 'while (true);', is('timeout'), { wall: 1 }],
  ['JavaScript: a memory bomb', 'const x = []; while (true) x.push(Buffer.alloc(1 << 22, 1));', is('oom', 'killed', 'error')],
  ['JavaScript: a flood', "for (let i = 0; i < 200000; i++) console.log('x'.repeat(1000));", cut, { wall: 8 }],
  ['JavaScript: an error with a huge text of other letters', "throw new Error('\\u{1F600}\\n'.repeat(1000000))", raises('Error'), { wall: 8 }],
  ['JavaScript: a promise that rejects later', "setTimeout(() => { throw new Error('late') }, 10); Promise.reject(new Error('now')); 1", any],
  ['JavaScript: children that outlive it', "const { spawn } = require('child_process'); for (let i = 0; i < 60; i++) spawn('/bin/sleep', ['100'], { detached: true, stdio: 'ignore' }).on('error', () => {}); while (true);", is('timeout', 'killed'), { wall: 1 }],
  ['JavaScript: garbage on the channel', "require('fs').writeSync(3, require('crypto').randomBytes(65536));", any],
];
