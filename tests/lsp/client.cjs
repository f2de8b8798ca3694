// SPDX-License-Identifier: MIT
// A client of codebox-lint --lsp: each check is a line; the exit status is 1 when one fails.
'use strict';
const assert = require('node:assert');
const { spawn } = require('node:child_process');
const rpc = require('vscode-languageserver-protocol/node');

const lint = process.argv[2];
let failures = 0;

async function check(name, run) {
    try {
        await run();
        console.log(`  ok    ${name}`);
    } catch (error) {
        failures++;
        console.log(`  FAILED ${name}: ${error.stack || error}`);
    }
}

class Client {
    constructor(encodings) {
        this.encodings = encodings;
        this.server = spawn(lint, ['--lsp'], { stdio: ['pipe', 'pipe', 'pipe'] });
        this.ended = new Promise((resolve) => this.server.on('exit', (code) => resolve(code)));
        this.connection = rpc.createProtocolConnection(
            new rpc.StreamMessageReader(this.server.stdout), new rpc.StreamMessageWriter(this.server.stdin));
        this.waiting = [];
        this.published = [];
        this.connection.onNotification(rpc.PublishDiagnosticsNotification.type, (params) => {
            this.published.push(params);
            this.waiting = this.waiting.filter(({ matches, resolve }) => !(matches(params) && (resolve(params), true)));
        });
        this.connection.listen();
    }

    async start(documentChanges = true) {
        const capabilities = { workspace: { workspaceEdit: { documentChanges } }, general: { positionEncodings: this.encodings } };
        const result = await this.connection.sendRequest(rpc.InitializeRequest.type, { processId: process.pid, rootUri: null, capabilities });
        await this.connection.sendNotification(rpc.InitializedNotification.type, {});
        return result;
    }

    // The diagnostics of a version of a document, once they are published.
    diagnostics(uri, version) {
        const matches = (params) => params.uri === uri && params.version === version;
        const old = this.published.find(matches);
        return old ? Promise.resolve(old) : new Promise((resolve) => this.waiting.push({ matches, resolve }));
    }

    open(uri, text, languageId = 'python', version = 1) {
        this.connection.sendNotification(rpc.DidOpenTextDocumentNotification.type, { textDocument: { uri, languageId, version, text } });
        return this.diagnostics(uri, version);
    }

    change(uri, version, contentChanges) {
        this.connection.sendNotification(rpc.DidChangeTextDocumentNotification.type, { textDocument: { uri, version }, contentChanges });
        return this.diagnostics(uri, version);
    }

    actions(uri, range, only) {
        return this.connection.sendRequest(rpc.CodeActionRequest.type, { textDocument: { uri }, range, context: { diagnostics: [], only } });
    }

    async stop() {
        await this.connection.sendRequest(rpc.ShutdownRequest.type);
        await this.connection.sendNotification(rpc.ExitNotification.type);
        return this.ended;
    }
}

const range = (line, from, to, last = line) => ({ start: { line, character: from }, end: { line: last, character: to } });
const rules = (published) => published.diagnostics.map((d) => d.code);

// Applies the edits of an action to a text of one-unit characters.
function apply(text, action, uri) {
    const edits = (action.edit.documentChanges ? action.edit.documentChanges[0].edits : action.edit.changes[uri]).slice();
    const offset = ({ line, character }) => text.split('\n').slice(0, line).reduce((n, l) => n + l.length + 1, 0) + character;
    edits.sort((a, b) => offset(b.range.start) - offset(a.range.start));
    return edits.reduce((t, e) => t.slice(0, offset(e.range.start)) + e.newText + t.slice(offset(e.range.end)), text);
}

// Sends bytes, and gives what comes back until the server ends.
function raw(bytes, args = ['--lsp']) {
    return new Promise((resolve) => {
        const server = spawn(lint, args, { stdio: ['pipe', 'pipe', 'pipe'] });
        let out = '', err = '';
        server.stdout.on('data', (d) => (out += d));
        server.stderr.on('data', (d) => (err += d));
        server.stdin.on('error', () => {});
        server.on('exit', (code) => resolve({ code, out, err }));
        server.stdin.end(bytes);
    });
}
const frame = (text) => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;

async function main() {
    const client = new Client(['utf-32', 'utf-16']);
    await check('the server says what it can do, and takes UTF-16 where UTF-8 is not offered', async () => {
        const { capabilities, serverInfo } = await client.start();
        assert.strictEqual(capabilities.positionEncoding, 'utf-16');
        assert.deepStrictEqual(capabilities.textDocumentSync, { openClose: true, change: 2, save: true });
        assert.strictEqual(serverInfo.name, 'codebox-lint');
    });
    await check('findings are published with the version, their place, and the rule', async () => {
        const published = await client.open('file:///x/a.py', 'import os\nx = "😀é"; os.system("ls")\n', 'python', 7);
        assert.strictEqual(published.version, 7);
        const [one] = published.diagnostics;
        assert.strictEqual(one.code, 'py.process');
        assert.strictEqual(one.severity, 1);
        assert.strictEqual(one.source, 'codebox');
        assert.match(one.message, /os\.system/);
        assert.deepStrictEqual(one.range, range(1, 11, 20));
    });
    await check('a hint of a mechanical form is a quick fix, and the fixed text has no finding', async () => {
        const actions = await client.actions('file:///x/a.py', range(1, 12, 12));
        assert.strictEqual(actions.length, 1);
        assert.strictEqual(actions[0].kind, 'quickfix');
        assert.strictEqual(actions[0].isPreferred, true);
        assert.strictEqual(actions[0].edit.documentChanges[0].textDocument.version, 7);
        const fixed = apply('import os\nx = "😀é"; os.system("ls")\n', actions[0], 'file:///x/a.py');
        assert.strictEqual(fixed, 'import os\nx = "😀é"; os.listdir(".")\n');
        assert.deepStrictEqual(rules(await client.change('file:///x/a.py', 8, [{ text: fixed }])), []);
    });
    await check('no quick fixes elsewhere, nor when other kinds are asked for', async () => {
        await client.change('file:///x/a.py', 9, [{ text: 'import os\nos.system("ls")\n' }]);
        assert.deepStrictEqual(await client.actions('file:///x/a.py', range(0, 0, 3)), []);
        assert.deepStrictEqual(await client.actions('file:///x/a.py', range(1, 0, 3), ['refactor']), []);
        assert.strictEqual((await client.actions('file:///x/a.py', range(1, 0, 3), ['quickfix'])).length, 1);
    });
    await check('incremental changes in UTF-16 are applied in order', async () => {
        await client.open('file:///x/b.py', 'a = "😀"\r\nb = 1\r\n');
        const published = await client.change('file:///x/b.py', 2, [
            { range: range(0, 7, 8), text: '" + eval(x)' }, // behind the emoji, which has two units
            { range: range(1, 0, 5), text: '' },
        ]);
        assert.deepStrictEqual(published.diagnostics.map((d) => [d.code, d.range]), [['py.dynamic-code', range(0, 11, 15)]]);
        const closed = await client.change('file:///x/b.py', 3, [{ range: range(0, 7, 99), text: '"' }]);
        assert.deepStrictEqual(rules(closed), []);
    });
    await check('a syntax error is fixed by its hint', async () => {
        const text = 'x = (1\n';
        assert.deepStrictEqual(rules(await client.open('file:///x/c.py', text)), ['source.syntax']);
        const [action] = await client.actions('file:///x/c.py', range(0, 4, 5));
        assert.strictEqual(apply(text, action), 'x = (1)\n');
    });
    await check('other languages, manifests and documents are judged by their names, or by the word of the editor', async () => {
        assert.deepStrictEqual(rules(await client.open('file:///x/d.ts', 'let x: number = eval(y)\n', 'typescript')), ['js.dynamic-code']);
        assert.deepStrictEqual(rules(await client.open('file:///x/requirements.txt', 'paramiko\n', 'pip-requirements')), ['pkg.blocked']);
        assert.deepStrictEqual(rules(await client.open('untitled:Untitled-1', 'eval(x)\n', 'javascriptreact')), ['js.dynamic-code']);
        const page = await client.open('file:///x/e%20f.html', '<p>\n<a onclick="eval(x)">\n', 'html');
        assert.deepStrictEqual(page.diagnostics[0].range, range(1, 12, 16));
    });
    await check('a file that cannot be checked has one diagnostic that says why', async () => {
        const published = await client.open('file:///x/package.json', '{', 'json');
        assert.strictEqual(published.diagnostics.length, 1);
        assert.match(published.diagnostics[0].message, /line 1/);
    });
    await check('a notebook has its findings in its lines', async () => {
        const text = '{"cells": [{"cell_type": "code", "source": [\n"import os\\n",\n"os.system(\\"x\\")"]}], "metadata": {}, "nbformat": 4}';
        const published = await client.open('file:///x/n.ipynb', text, 'json');
        assert.strictEqual(published.diagnostics[0].code, 'py.process');
        assert.deepStrictEqual([...new Set(published.diagnostics.map((d) => d.range.start.line))], [2]);
    });
    await check('a change that does not fit is reported, and the whole text replaces it', async () => {
        const lost = await client.change('file:///x/c.py', 2, [{ range: { start: { line: 1, character: 0 }, end: { line: 0, character: 0 } }, text: '' }]);
        assert.match(lost.diagnostics[0].message, /ends before it begins/);
        assert.deepStrictEqual(rules(await client.change('file:///x/c.py', 3, [{ text: 'x = 1\n' }])), []);
    });
    await check('closing a document takes its findings away', async () => {
        client.connection.sendNotification(rpc.DidCloseTextDocumentNotification.type, { textDocument: { uri: 'file:///x/d.ts' } });
        const closed = await client.diagnostics('file:///x/d.ts', undefined);
        assert.deepStrictEqual(closed.diagnostics, []);
    });
    await check('an unknown request is refused with its code, and an unknown notification is ignored', async () => {
        await client.connection.sendNotification('$/x', {});
        await assert.rejects(client.connection.sendRequest('x/y', {}), (error) => error.code === -32601);
    });
    await check('after shutdown and exit the status is 0', async () => assert.strictEqual(await client.stop(), 0));

    const other = new Client(['utf-16', 'utf-8']);
    await check('positions are in UTF-8 where the client offers it', async () => {
        assert.strictEqual((await other.start(false)).capabilities.positionEncoding, 'utf-8');
        const published = await other.open('file:///x/a.py', 'import os\nx = "😀é"; os.system("ls")\n');
        assert.deepStrictEqual(published.diagnostics[0].range, range(1, 14, 23));
        const [action] = await other.actions('file:///x/a.py', range(1, 14, 14));
        assert.deepStrictEqual(Object.keys(action.edit), ['changes']);
    });
    await check('exit without shutdown is status 1', async () => {
        await other.connection.sendNotification(rpc.ExitNotification.type);
        assert.strictEqual(await other.ended, 1);
    });

    await check('ids are echoed, texts and numbers, and others refused', async () => {
        const { out } = await raw(['"a"', '7', 'null', '{}'].map((id) => frame(`{"jsonrpc":"2.0","id":${id},"method":"x"}`)).join(''));
        const ids = [...out.matchAll(/\{[^\r]*\}/g)].map((m) => JSON.parse(m[0])).map((m) => [m.id, m.error.code]);
        assert.deepStrictEqual(ids, [['a', -32002], [7, -32002], [null, -32600], [null, -32600]]);
    });
    await check('a body that is no JSON is answered, and the next message is read', async () => {
        const { out } = await raw(frame('{') + frame('[]') + frame('{"jsonrpc":"2.0","id":1,"method":"x"}'));
        const codes = [...out.matchAll(/"code":(-?\d+)/g)].map((m) => +m[1]);
        assert.deepStrictEqual(codes, [-32700, -32600, -32002]);
    });
    for (const [name, bytes, reason] of [
        ['headers that are none', 'x\r\n\r\n{}', /no header/],
        ['an unknown header', 'X-Y: 1\r\n\r\n', /is not known/],
        ['a message without a length', '\r\n{}', /without the header/],
        ['a length that is no number', 'Content-Length: -1\r\n\r\n', /allowed is/],
        ['a length over the cap', 'Content-Length: 99999999999999999999\r\n\r\n', /allowed is/],
        ['two lengths', 'Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}', /twice/],
        ['another charset', 'Content-Length: 2\r\nContent-Type: x; charset=utf-16\r\n\r\n{}', /allowed is utf-8/],
        ['headers without an end', 'Content-Length: 2' + ' '.repeat(5000), /headers of more/],
    ]) {
        await check(`${name}: status 2, with the reason`, async () => {
            const { code, err } = await raw(bytes);
            assert.strictEqual(code, 2);
            assert.match(err, reason);
        });
    }
    await check('the end of the input is status 1', async () => assert.strictEqual((await raw('')).code, 1));
    await check('paths beside --lsp are refused', async () => assert.strictEqual((await raw('', ['--lsp', 'x.py'])).code, 2));
}

main().then(() => process.exit(failures > 0 ? 1 : 0));
