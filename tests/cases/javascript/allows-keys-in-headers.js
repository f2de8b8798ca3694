const axios = require('axios');
fetch(process.env.SERVICE_URL, { method: 'POST', headers: { Authorization: `Bearer ${process.env.OPENAI_API_KEY}`, 'Content-Type': 'application/json' }, body: JSON.stringify({ q: 1, lang: process.env.LANG }) });
axios.get('https://x.example', { headers: { 'X-API-Key': process.env.API_KEY }, params: { page: 1 } });
axios.get(u, { auth: { username: 'me', password: process.env.PASSWORD } });
const headers = { Authorization: 'Bearer ' + process.env.TOKEN };
axios.post(u, { a: 1 }, { headers });
console.log(process.env.HOME);
