// SPDX-License-Identifier: MIT
// The page at GET /: login, with clicks in Chromium ($CHROMIUM, or in $PATH), and texts of hostile
// callers in the page: code, names of sessions, paths, messages. A parser reads the document like a
// browser. The document, and the one that Chromium creates from it with scripts, may have only
// elements, attributes and scripts of the gateway.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parse } from 'parse5';
import { chromium } from 'playwright-core';
import { check, codebox, finish, must, startServe, state, stopServe } from './checks.mjs';

const config = `${state}/codebox.yaml`;
writeFileSync(config, `policy: [default, permissive]
principals:
  - {name: officer, rights: ["audit:read"]}
  - {name: ann}
`);
const token = (principal) => execFileSync(codebox, ['token', 'create', '--state', state, '--principal', principal], { stdio: ['ignore', 'pipe', 'ignore'] }).toString().trim();
const tokens = { officer: token('officer'), ann: token('ann') };
const server = await startServe('--config', config);
const get = (path, headers = {}) => fetch(new URL(path, server.url), { headers, redirect: 'manual' });
const login = (body, headers = {}) => fetch(new URL('/login', server.url), { method: 'POST', redirect: 'manual', headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers }, body });
const run = (code, more = {}) => fetch(new URL('/v1/executions', server.url), { method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${tokens.ann}` }, body: JSON.stringify({ language: 'python', code, ...more }) });

// --- login
await check('without a login it is a form, and shows nothing else', async () => {
  const answer = await get('/'), text = await answer.text();
  must(answer.status === 401 && !answer.headers.get('www-authenticate') && text.includes('action="/login"') && !text.includes('data-live'), text.slice(0, 500));
});
await check('its policy lets nothing run but the files of the gateway', async () => {
  const csp = (await get('/')).headers.get('content-security-policy');
  must(csp.startsWith("default-src 'none'; style-src 'self'; script-src 'self'") && !csp.includes('unsafe') && csp.includes("frame-ancestors 'none'"), csp);
  must((await get('/healthz')).headers.get('content-security-policy') === "sandbox; default-src 'none'", 'another answer');
});
let cookie;
await check('a token gives a cookie for this page alone', async () => {
  const answer = await login(`token=${tokens.officer}`), set = answer.headers.get('set-cookie');
  must(answer.status === 303 && answer.headers.get('location') === '/' && /^codebox=[0-9a-f]{64}; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict$/.test(set), set);
  [cookie] = set.split(';');
  must((await get('/', { Cookie: cookie })).status === 200, 'the page');
  must((await get('/', { Cookie: `other=1; ${cookie}` })).status === 200, 'beside another cookie');
  for (const path of ['/v1/decisions', '/v1/sessions', '/metrics']) must((await get(path, { Cookie: cookie })).status === 401, path);
  must((await fetch(new URL('/mcp', server.url), { method: 'POST', headers: { Cookie: cookie } })).status === 401, 'MCP');
});
await check('nothing else is let in', async () => {
  for (const body of ['', 'token=', 'token=x', `token=${tokens.officer}x`, `other=${tokens.officer}`, 'token=%3Cscript%3E', `token=${'a'.repeat(100000)}`]) {
    const answer = await login(body);
    must(answer.status === 401 && !answer.headers.get('set-cookie'), `${body.slice(0, 40)}: ${answer.status}`);
  }
  must((await login(`token=${tokens.officer}`, { 'Content-Type': 'text/plain' })).status === 401, 'another type');
  must((await login(`token=${tokens.officer}`, { Origin: 'http://evil.test' })).status === 403, 'another origin');
  for (const value of ['codebox=', 'codebox=x', `codebox=${'0'.repeat(64)}`, cookie.slice(0, -1), `${cookie}0`, `x${cookie}`]) must((await get('/', { Cookie: value })).status === 401, value);
});
await check('a principal without the right sees nothing', async () => {
  const answer = await login(`token=${tokens.ann}`), own = answer.headers.get('set-cookie').split(';')[0];
  const shown = await get('/', { Cookie: own }), text = await shown.text();
  must(shown.status === 403 && text.includes('audit:read') && !text.includes('data-live'), text);
});

// --- texts of hostile callers
const breakers = ['</pre><script>document.title="PWNED"</script>', '"><img src=x onerror=alert(1)>', "'><svg onload=alert(1)>", '</title><h1 id=evil>', '<!--', '--><iframe src=//evil.test>', '&lt;script&gt;', '`${alert(1)}`', '\u202Eevil\u2066', '<\u0000script>alert(1)</script>', '</details></section></main><form action=//evil.test>', '<plaintext>', '\uFEFF<style>*{display:none}</style>'];
const codes = [
  ...breakers.map((text) => `import subprocess  # ${text}\nx = ${JSON.stringify(text.replace(/\u0000/g, ''))}`),
  ...breakers.slice(0, 4).map((text) => `x = "${text.replace(/["\\]/g, '')}"; import subprocess`),
  `import subprocess; x = "${'<b>'.repeat(300000)}"`,
  `${'\n'.repeat(100)}import os; os.system("<script>alert(1)</script>")`,
  'import subprocess\r\n\t\x07\x1b[31m<script>alert(1)</script>',
  '\u00e4\u{1F600}\u0301'.repeat(100) + ' = 1; import subprocess',
];
for (const code of codes) await (await run(code)).text();
await (await run('raise Exception("<script>alert(1)</script>")')).text();
await (await fetch(new URL('/v1/executions', server.url), { method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${tokens.ann}` }, body: JSON.stringify({ language: 'python', policy: 'permissive', code: 'open("/etc/<script>alert(1)<!--", "w")' }) })).text();

const page = await (await get('/', { Cookie: cookie })).text();
const known = {
  form: 'class method action', button: '', html: 'lang', head: '', meta: 'charset name content', title: '', link: 'rel href', script: 'src defer', body: '', header: '', h1: '', h2: '', span: 'class', main: 'data-live', div: 'class', section: '', ul: 'class', li: 'class', b: '', i: 'class',
  svg: 'class viewBox preserveAspectRatio role aria-label', rect: 'class x y width height', p: 'class role', time: 'datetime title', code: 'class', pre: '', mark: '', details: 'id open', summary: '',
};
const values = { method: /^post$/, action: /^\/logout$/, class: /^[a-z -]*$/, id: /^d-[0-9A-Z]{26}$/, href: /^\/page\.css$/, src: /^\/page\.js$/, datetime: /^[0-9T:.-]{26}Z$/ };
function strange(document) {
  const found = [];
  const walk = (node) => {
    const inSvg = node.tagName === 'title' && node.parentNode.tagName === 'rect';
    if (node.tagName && !inSvg) {
      if (!(node.tagName in known)) found.push(`<${node.tagName}>`);
      for (const { name, value } of node.attrs) if (!known[node.tagName]?.split(' ').includes(name) || (values[name] && !values[name].test(value))) found.push(`<${node.tagName} ${name}=${value.slice(0, 60)}>`);
      if (node.tagName === 'script' && node.childNodes.length > 0) found.push('an inline script');
    } else if (node.nodeName === '#comment') found.push(`<!--${node.data.slice(0, 60)}-->`);
    else if (node.nodeName === '#text' && /[\u202A-\u202E\u2066-\u2069\u0000]/.test(node.value)) found.push(`text ${JSON.stringify(node.value.slice(0, 60))}`);
    for (const child of node.childNodes ?? []) walk(child);
  };
  walk(parse(document));
  return found;
}
const all = (node, tag, found = []) => {
  if (node.tagName === tag) found.push(node);
  for (const child of node.childNodes ?? []) all(child, tag, found);
  return found;
};
const text_of = (node) => node.nodeName === '#text' ? node.value : (node.childNodes ?? []).map(text_of).join('');

await check('it has no element, attribute, script or comment of a caller, and no direction of text', async () => {
  const found = strange(page);
  must(found.length === 0, found);
  must(all(parse(page), 'script').length === 1 && all(parse(page), 'details').length >= codes.length, 'decisions are missing');
});
await check('the offending code is marked at its line and column', async () => {
  const marks = all(parse(page), 'mark').map(text_of);
  must(marks.length >= codes.length - 2 && marks.some((m) => m.includes('subprocess')), marks.slice(0, 20));
});
await check('a line of a megabyte is cut', async () => must(page.length < 600000, page.length));
await check('it says that text cannot be seen', async () => must(page.includes('\\u{202e}') && page.includes('\\u{2066}'), 'bidi'));

// --- in a browser
const program = process.env.CHROMIUM ?? ['chromium', 'chromium-browser', 'google-chrome'].map((name) => { try { return execFileSync('which', [name], { stdio: ['ignore', 'pipe', 'ignore'] }).toString().trim(); } catch { return ''; } }).find((path) => path);

// Returns the lowest contrast of a text with its background (WCAG 2.2, 1.4.3), and the text. Runs
// in the page.
function least_contrast() {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => channels(color).slice(0, 3).map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => { for (let e = element; e; e = e.parentElement) { const color = getComputedStyle(e).backgroundColor; if ((channels(color)[3] ?? 1) === 1) return color; } return 'rgb(255,255,255)'; };
  let least = [21, ''];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    if (!node.data.trim() || !node.parentElement.checkVisibility() || node.parentElement.closest('svg')) continue;
    const [a, b] = [luminance(getComputedStyle(node.parentElement).color), luminance(behind(node.parentElement))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < least[0]) least = [contrast, `${node.parentElement.className}: ${node.data.slice(0, 40)}`];
  }
  return least;
}

if (program) {
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  const tab = await browser.newPage();
  const fill = async (text) => { await tab.getByLabel(/token/).fill(text); await tab.getByRole('button', { name: 'Show the page' }).click(); };
  await check('in Chromium a person logs in by the form, sees the page, and it stays up to date', async () => {
    await tab.goto(server.url);
    await fill('not-a-token');
    must(await tab.getByRole('alert').isVisible(), 'no message');
    await fill(tokens.officer);
    await tab.locator('main[data-live]').waitFor();
    must((await tab.title()) === 'codebox' && await tab.getByText('shown to officer').isVisible(), (await tab.content()).slice(0, 500));
    await tab.evaluate(() => { document.querySelector('main').dataset.old = ''; });
    await tab.locator('main[data-live]:not([data-old])').waitFor(); // the script has loaded the next state
  });
  for (const colorScheme of ['light', 'dark']) {
    await check(`each text can be read, with ${colorScheme} colours and on a narrow screen`, async () => {
      await tab.emulateMedia({ colorScheme });
      await tab.evaluate(() => { for (const d of document.querySelectorAll('details')) d.open = true; });
      const [contrast, text] = await tab.evaluate(least_contrast);
      must(contrast >= 4.5, `${contrast.toFixed(2)}: ${text}`);
      await tab.setViewportSize({ width: 360, height: 640 });
      must(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it scrolls sideways');
      await tab.setViewportSize({ width: 1280, height: 720 });
    });
  }
  await check('nothing of a caller runs in it', async () => { const found = strange(await tab.content()); must(found.length === 0 && (await tab.title()) === 'codebox', found); });
  await check('a person logs out: the page, its history and the cookie show nothing any more', async () => {
    const [{ name, value }] = await tab.context().cookies();
    await tab.getByRole('button', { name: 'Log out' }).click();
    await tab.getByLabel(/token/).waitFor();
    must((await tab.context().cookies()).length === 0, 'the cookie is there');
    await tab.goBack();
    must(!(await tab.content()).includes('<main data-live'), 'the page is in the history');
    must((await get('/', { Cookie: `${name}=${value}` })).status === 401, 'the cookie is good');
  });
  await check('a form of another page logs nobody in', async () => {
    const form = `<form method="post" action="${new URL('/login', server.url)}"><input name="token" value="${tokens.officer}"><button>x</button></form>`;
    const other = createServer((request, response) => response.setHeader('Content-Type', 'text/html').end(form)).listen(0, '127.0.0.1');
    await once(other, 'listening');
    await tab.goto(`http://127.0.0.1:${other.address().port}/`);
    await tab.getByRole('button').click();
    other.close();
    await tab.waitForLoadState();
    must((await tab.context().cookies()).length === 0 && !(await tab.content()).includes('data-live'), (await tab.content()).slice(0, 500));
  });
  const open = await startServe('--state', `${state}-open`); // without identity: the page needs no login
  for (const code of codes) await (await fetch(new URL('/v1/executions', open.url), { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ language: 'python', code }) })).text();
  await check('without identity there is neither a form nor a log-out, and no script of a caller runs, also after a refresh', async () => {
    await tab.goto(open.url);
    await tab.evaluate(() => { document.querySelector('main').dataset.old = ''; });
    await tab.locator('main[data-live]:not([data-old])').waitFor();
    const document = await tab.content(), found = strange(document);
    must(found.length === 0 && (await tab.title()) === 'codebox' && all(parse(document), 'details').length >= codes.length && !document.includes('<form'), found);
  });
  await stopServe(open);
  await browser.close();
} else console.log('skipped in Chromium, which is not here');

await check('a token that is revoked ends its login', async () => {
  execFileSync(codebox, ['token', 'revoke', '--state', state, tokens.officer.split('_')[1]], { stdio: 'ignore' });
  const answer = await get('/', { Cookie: cookie }), text = await answer.text();
  must(answer.status === 401 && !text.includes('data-live'), text);
});

must((await stopServe(server)) === 0, 'the end of the server');

await check('behind HTTPS the cookie is for HTTPS alone, and a cookie of before the restart is none', async () => {
  const again = await startServe('--config', config, '--public-url', 'https://codebox.test'), other = token('officer');
  const answer = await fetch(new URL('/login', again.url), { method: 'POST', redirect: 'manual', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: `token=+${other}+` });
  const set = answer.headers.get('set-cookie'), [own] = set.split(';');
  must(/^__Host-codebox=[0-9a-f]{64}; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict; Secure$/.test(set), set);
  const shows = async (value) => (await fetch(again.url, { headers: { Cookie: value } })).status;
  must(await shows(own) === 200 && await shows(cookie) === 401 && await shows(own.replace('__Host-', '')) === 401, 'who is let in');
  must((await stopServe(again)) === 0, 'the end');
});
finish();
