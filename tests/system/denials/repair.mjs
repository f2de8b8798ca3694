// SPDX-License-Identifier: MIT
// Sends the programs of programs.txt to `codebox mcp`, which denies them. Then changes each program
// once, only as the text of its denial says, and sends it again. Prints a line for each program,
// and the numbers.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [codebox, state] = process.argv.slice(2);
const TEXT_MAX = 2048, PARALLEL = 4;

// --- the repairs: patterns of hints, and their effects on a program
// --------------------------------

const escaped = s => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const lineEdit = edit => (p, words) => { p.lines[words.at(-1) - 1] = edit(p.lines[words.at(-1) - 1], ...words); };
const insertBefore = (line, what, before) => {
    const at = line.lastIndexOf(before);
    return at < 0 ? line : line.slice(0, at) + what + line.slice(at);
};
const repairs = [
    [/instead of `([^`]*)` write `([^`]*)`/gi, (p, [a, b]) => {
        p.later.push(code => code.replace(/^[\w.]+$/.test(a) ? new RegExp(`\\b${escaped(a)}\\b`, 'g') : new RegExp(escaped(a), 'g'), () => b));
    }],
    [/add the line `([^`]*)` at the end/g, (p, [line]) => { p.later.push(code => `${code.replace(/\n*$/, '')}\n${line}\n`); }],
    [/add the line `([^`]*)`(?! at the end)/g, (p, [line]) => { p.later.push(code => `${line}\n${code}`); }],
    [/add `([^`]*)` at the end of line (\d+)/g, lineEdit((line, what) => line + what)],
    [/add `([^`]*)` before the `([^`]*)` (?:at the end )?of line (\d+)/g, lineEdit(insertBefore)],
    [/remove the last `([^`]*)` of line (\d+)/g, lineEdit((line, what) => line.slice(0, line.lastIndexOf(what)) + line.slice(line.lastIndexOf(what) + what.length))],
    [/remove `([^`]*)`/gi, (p, [what]) => { p.later.push(code => code.replaceAll(what, '')); }],
    [/remove (?:the )?line (\d+)/gi, (p, [n]) => { p.lines[n - 1] = ''; }],
    [/remove the lines that begin with ```/g, p => { p.lines = p.lines.map(l => (l.startsWith('```') ? '' : l)); }],
    [/write line breaks instead of `\\n`/g, p => { p.later.push(code => code.replaceAll('\\n', '\n')); }],
    [/send it with the language "(\w+)"/g, (p, [language]) => { p.language = language; }],
];

// Returns the program with every repair that the text names; null if it names none.
function repair({ language, code }, text) {
    const program = { language, lines: code.split('\n'), later: [] };
    const hints = text.split('\n').filter(line => line.startsWith('  hint: ')).join('\n');
    for (const [pattern, apply] of repairs)
        for (const [, ...words] of hints.matchAll(pattern)) apply(program, words);
    const changed = program.later.reduce((code, change) => change(code), program.lines.join('\n'));
    return changed === code && program.language === language ? null : { language: program.language, code: changed };
}

// --- the server --------------------------------------------------------------------------------------------------------------------

const server = spawn(codebox, ['mcp', '--state', state], { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map();
createInterface({ input: server.stdout }).on('line', line => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
});
let ids = 0;
const request = (method, params) => new Promise(resolve => {
    waiting.set(++ids, resolve);
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ids, method, params })}\n`);
});
async function run({ language, code }) {
    const { result } = await request('tools/call', { name: 'execute_code', arguments: { language, code } });
    // A result with pictures has no structured half.
    return { status: result.structuredContent?.status ?? (result.isError ? 'error' : 'ok'), text: result.content[0].text };
}

// --- the test ----------------------------------------------------------------------------------------------------------------------

// Checks for every denial, apart from its hints.
function faults(denied, text) {
    const found = [];
    if (denied.status !== 'denied') found.push(`status ${denied.status}`);
    if (Buffer.byteLength(text) > TEXT_MAX) found.push(`${Buffer.byteLength(text)} bytes`);
    if (!/^denied by policy rule \S+; nothing ran\n/.test(text)) found.push('first line');
    if (!/\naudit id \w+\n$/.test(text)) found.push('audit id');
    if (!/\n {4}.*\n {4}[ .]*\^~*\n/.test(text)) found.push('caret');
    if (/\.yaml|policies\//.test(text)) found.push('file of the policy');
    const lines = text.split('\n').filter(l => l.startsWith('  ') && !l.startsWith('    ') && l.length > 30);
    if (new Set(lines).size !== lines.length) found.push('a text twice');
    return found;
}

async function check(program) {
    const denied = await run(program);
    const outcome = { name: program.name, faults: faults(denied, denied.text), text: denied.text, repaired: false, why: 'the text names no repair' };
    const changed = repair(program, denied.text);
    if (changed) {
        const again = await run(changed);
        outcome.repaired = again.status === 'ok';
        outcome.why = again.text.trim().split('\n').slice(0, 40).join('\n      ');
        outcome.code = changed.code;
    }
    return outcome;
}

const parts = readFileSync(new URL('programs.txt', import.meta.url), 'utf8').split(/^### /m).slice(1);
const programs = parts.map(part => {
    const [, language, name, code] = /^(\w+) (.*)\n([\s\S]*)$/.exec(part);
    return { language, name, code };
});
const outcomes = [];
const queue = [...programs];
await Promise.all(Array.from({ length: PARALLEL }, async () => {
    for (let next; (next = queue.shift());) outcomes.push(await check(next));
}));
server.stdin.end();
let repaired = 0, faulty = 0;
for (const o of outcomes) {
    repaired += o.repaired;
    faulty += o.faults.length > 0;
    console.log(`${o.repaired ? 'repaired' : 'not repaired'}: ${o.name}${o.faults.length ? ` (FAULT: ${o.faults.join(', ')})` : ''}`);
    if ((process.env.VERBOSE && !o.repaired) || process.env.VERBOSE > 1 || o.faults.length) console.log(`    ${o.text.replaceAll('\n', '\n    ')}\n      -> ${o.why}\n${o.code ?? ''}`);
}
console.log(`programs ${programs.length} repaired ${repaired} faulty ${faulty} longest ${Math.max(...outcomes.map(o => Buffer.byteLength(o.text)))}`);
