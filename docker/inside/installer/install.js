// SPDX-License-Identifier: MIT
// Resolves and installs npm packages in an installer container. The host is
// docker/packages/package_layers.c; install.py describes the streams. The file
// docker/images/installer/package-lock.json pins npm. This program executes no script of a package,
// and creates no link of a package.
'use strict';
const { spawn } = require('child_process');
const fs = require('fs');
const { join } = require('path');
const { Transform } = require('stream');

const NPM = '/codebox/installer/node_modules/npm';
const TARGET = '/packages';
const AT_ONCE = 4;
const LINES_KEPT = 200;

function tell(text) {
  fs.writeSync(2, `${text.slice(0, 4096).replace(/[^ -~]/g, '?')}\n`);
}

class Failure extends Error {}

function certificatesOf(job) {
  if (!job.ca) {
    return {};
  }
  fs.writeFileSync('/tmp/certificates.pem', job.ca);
  return { NODE_EXTRA_CA_CERTS: '/tmp/certificates.pem' };
}

function reportProgress(line, seen) {
  const found = /^npm http fetch GET 200 \S+\/((?:@|%40)?[A-Za-z0-9._~%-]+) /.exec(line);
  const name = found && decodeURIComponent(found[1]);
  if (name && !seen.has(name)) {
    seen.add(name);
    tell(`progress collecting ${name}`);
  }
}

// --- resolve -----------------------------------------------------------------------------------------------------------------

async function resolve(job) {
  const folder = '/tmp/resolve';
  fs.mkdirSync(folder);
  fs.writeFileSync(join(folder, 'package.json'), '{"name":"session","version":"1.0.0","private":true}');
  const options = ['--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--no-progress',
    '--lockfile-version=3', '--fetch-retries=1', '--fetch-retry-mintimeout=500', `--fetch-timeout=${job.answer_timeout_s * 1000}`,
    '--cache=/tmp/npm', '--userconfig=/tmp/no-user', '--globalconfig=/tmp/no-global', '--loglevel=http', '--logs-max=0', '--no-color'];
  if (job.index) {
    options.push(`--registry=${job.index}`);
  }
  const words = ['--require', '/codebox/installer/reach.js', `${NPM}/bin/npm-cli.js`, 'install', ...options, '--', ...job.requirements];
  const child = spawn(process.execPath, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], env: process.env });
  const lines = [];
  const seen = new Set();
  const take = (line) => {
    reportProgress(line, seen);
    if (!/^npm (http|error Log files) |^npm error$/.test(line)) {
      lines.push(line);
      lines.splice(0, lines.length - LINES_KEPT);
    }
  };
  for (const stream of [child.stdout, child.stderr]) {
    require('readline').createInterface({ input: stream }).on('line', take);
  }
  const status = await new Promise((done) => child.on('close', done));
  if (status !== 0) {
    lines.forEach((line) => tell(line));
    throw new Failure('');
  }
  await new Promise((done) => fs.createReadStream(join(folder, 'package-lock.json')).on('end', done).pipe(process.stdout, { end: false }));
}

// --- install -----------------------------------------------------------------------------------------------------------------

class Caps {
  constructor(job) {
    this.job = job;
    this.downloaded = this.size = this.number = 0;
  }

  addDownloaded(bytes) {
    this.downloaded += bytes;
    if (this.downloaded > this.job.download_bytes) {
      throw new Failure(`codebox: too-large ${Math.floor(this.job.download_bytes / 1048576)}`);
    }
  }

  addFile(bytes) {
    this.size += bytes;
    if (this.size > this.job.unpacked_bytes) {
      throw new Failure(`codebox: too-large ${Math.floor(this.job.unpacked_bytes / 1048576)}`);
    }
    if (++this.number > this.job.files) {
      throw new Failure(`codebox: too-many ${this.job.files}`);
    }
  }
}

// Returns the bytes of a package. pacote fails if the bytes do not have the hash.
async function download(pacote, job, caps, { name, version, hash, url }) {
  const options = { integrity: hash, cache: '/tmp/npm', preferOnline: true, fetchTimeout: job.answer_timeout_s * 1000,
    fetchRetries: 1, fetchRetryFactor: 10, fetchRetryMintimeout: 500, fetchRetryMaxtimeout: 5000 };
  if (job.index) {
    options.registry = job.index;
    options.replaceRegistryHost = 'never';
  }
  const spec = url === '-' ? `${name}@${version}` : url;
  return pacote.tarball.stream(spec, async (stream) => {
    const parts = [];
    let bytes = 0;
    for await (const part of stream) {
      bytes += part.length;
      caps.addDownloaded(part.length);
      parts.push(part);
    }
    tell(`progress downloading ${name} ${(bytes / 1e6).toFixed(1)} MB`);
    return Buffer.concat(parts);
  }, options);
}

// Unpacks regular files and folders. Like npm, it skips links and all other entries.
function unpack(tar, caps, bytes, folder) {
  fs.mkdirSync(folder, { recursive: true });
  let failure = null;
  const kept = (path, entry) => {
    if (failure !== null || !['File', 'OldFile', 'ContiguousFile', 'Directory'].includes(entry.type)) {
      return false;
    }
    try {
      caps.addFile(entry.size || 0);
    } catch (error) {
      failure = error;
      return false;
    }
    return true;
  };
  return new Promise((done, failed) => {
    const parser = tar.x({ cwd: folder, strip: 1, filter: kept, strict: true, preservePaths: false, noChmod: true, preserveOwner: false,
      onentry: (entry) => { entry.mode = entry.type === 'Directory' ? 0o755 : (entry.mode & 0o100) ? 0o755 : 0o644; } });
    parser.on('error', failed);
    parser.on('close', () => (failure === null ? done() : failed(failure)));
    parser.end(bytes);
  });
}

// Fails if the layer has an entry that is neither a folder nor a regular file with one name.
// Removes the special bits of the others.
function makeHarmless(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const status = fs.lstatSync(path);
    if (status.isDirectory()) {
      makeHarmless(path);
      fs.chmodSync(path, 0o755);
    } else if (status.isFile() && status.nlink === 1) {
      fs.chmodSync(path, status.mode & 0o100 ? 0o755 : 0o644);
    } else {
      throw new Failure(`codebox: no-file ${entry.name}`);
    }
  }
}

async function install(job) {
  const pacote = require(`${NPM}/node_modules/pacote`);
  const tar = require(`${NPM}/node_modules/tar`);
  const caps = new Caps(job);
  const left = job.packages.map(([path, name, version, hash, url]) => ({ path, name, version, hash, url }));
  const work = async () => {
    for (let each; (each = left.shift()) !== undefined;) {
      const bytes = await download(pacote, job, caps, each).catch((error) => {
        throw error.code === 'EINTEGRITY' ? new Failure(`codebox: hash ${each.name}`) : error;
      });
      await unpack(tar, caps, bytes, join(TARGET, each.path));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  makeHarmless(TARGET);
}

// --- the job -----------------------------------------------------------------------------------------------------------------

// Reads the job. Ends this program, and with it the container, when the host closes standard input:
// without a host, no process removes the container.
function readJob() {
  return new Promise((done) => {
    let text = '';
    process.stdin.setEncoding('utf8');
    process.stdin.on('end', () => process.exit(4));
    process.stdin.on('data', (part) => {
      text += part;
      if (text.endsWith('\n')) {
        done(JSON.parse(text));
      }
    });
  });
}

async function main() {
  if (process.argv[2] === 'work') { // in the second process, because Node reads NODE_EXTRA_CA_CERTS when it starts
    require('/codebox/installer/reach.js');
    const job = JSON.parse(fs.readFileSync('/tmp/job.json', 'utf8'));
    await (job.task === 'resolve' ? resolve : install)(job);
    return 0;
  }
  const job = await readJob();
  const index = job.index || require(`${NPM}/node_modules/@npmcli/config/lib/definitions`).definitions.registry.default;
  fs.writeFileSync('/tmp/reach.json', JSON.stringify({ index, unreachable: job.unreachable }));
  const environment = { ...process.env, HOME: '/tmp', ...certificatesOf(job) };
  fs.writeFileSync('/tmp/job.json', JSON.stringify(job));
  const child = spawn(process.execPath, [__filename, 'work'], { stdio: ['ignore', 'inherit', 'inherit'], env: environment });
  return new Promise((done) => child.on('close', (status) => done(status === null ? 1 : status)));
}

main().then((status) => process.exit(status), (error) => {
  if (error.message) {
    tell(error instanceof Failure ? error.message : `npm error ${error.code || ''} ${error.message}`);
  }
  process.exit(1);
});
