const base = 'https://example.org/';
const token = process.env.SERVICE_TOKEN;
const servers = { a: { url: base } };
servers.a.token = token;
fetch(servers.a.url, { headers: { Authorization: servers.a.token } });
for (const [name, server] of Object.entries(servers)) {
    server.token = token;
}
for (const server of Object.values(servers)) {
    fetch(server.url, { headers: { Authorization: server.token } });
}
const list = [{ url: base }];
for (const item of list) {
    item.token = token;
}
for (const item of list) {
    fetch(item.url, { headers: { Authorization: item.token } });
}
const map = new Map();
map.set('url', base);
map.set('token', token);
fetch(map.get('url'), { headers: { Authorization: map.get('token') } });
class Client {
    constructor(url) {
        this.url = url;
        this.token = token;
        this.payload = {};
    }
    put(name, value) {
        this.payload[name] = value;
        return this;
    }
    send() {
        const headers = { Authorization: this.token };
        return fetch(this.url, { method: 'POST', body: JSON.stringify(this.payload), headers });
    }
}
new Client(base).put('a', 1).send();
const choice = token ? [] : ['none'];
choice.push('x');
fetch(base, { method: 'POST', body: JSON.stringify(choice) });
