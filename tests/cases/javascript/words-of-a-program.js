const { spawn } = require('child_process');
spawn('python3', ['-c', 'import socket']);
// expect 1 js.process
// expect 2 sh.command
// expect 2 py.socket
