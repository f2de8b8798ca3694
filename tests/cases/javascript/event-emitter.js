const { EventEmitter } = require('events');
const e = new EventEmitter();
e.on('x', (p) => p.kill(1, 0));
e.emit('x', process);
// expect 3 js.process
