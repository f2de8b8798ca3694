const { once, EventEmitter } = require('events');
const e = new EventEmitter();
once(e, 'x').then(([p]) => p.kill(1, 0));
e.emit('x', process);
// expect 3 js.process
