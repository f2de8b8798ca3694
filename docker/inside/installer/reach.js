// SPDX-License-Identifier: MIT
// Loaded before npm. Ends the process at a redirect to another host, and at a connection to a host
// other than the index whose address is not public. npm's packages send requests through the two
// replaced functions `request`, and connect through the replaced `connect`.
'use strict';
const dns = require('dns');
const fs = require('fs');
const http = require('http');
const https = require('https');
const net = require('net');

function stop(text) {
  fs.writeSync(2, `codebox: ${text}\n`);
  process.exit(3);
}

function originOf(url) {
  const port = url.port || (url.protocol === 'https:' ? 443 : 80);
  return `${url.protocol}//${url.hostname}:${port}`;
}

function check(request, response) {
  const { location } = response.headers;
  if (response.statusCode < 300 || response.statusCode > 399 || !location) {
    return;
  }
  const from = new URL(`${request.protocol}//${request.getHeader('host') || request.host}`);
  let to;
  try {
    to = originOf(new URL(location, from));
  } catch {
    to = 'invalid';
  }
  if (to !== originOf(from)) {
    stop(`redirect ${originOf(from)} ${to}`);
  }
}

for (const module of [http, https]) {
  const { request } = module;
  module.request = function (...args) {
    const made = request.apply(module, args);
    made.prependListener('response', (response) => check(made, response));
    return made;
  };
}

// --- addresses -----------------------------------------------------------------------------------------------------------------

const { index, unreachable } = JSON.parse(fs.readFileSync('/tmp/reach.json', 'utf8'));
const indexUrl = new URL(index);
const indexPort = Number(indexUrl.port || (indexUrl.protocol === 'https:' ? 443 : 80));

function numberOf(address) {
  return address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}

function checkAddress(host, port, address) {
  const number = numberOf(address);
  if (net.isIPv4(address) && !unreachable.some(([first, last]) => first <= number && number <= last)) {
    return;
  }
  stop(`address ${host}:${port} ${address}`);
}

// Returns a function like dns.lookup that checks the answers.
function checkedLookup(port) {
  return (host, options, done) => dns.lookup(host, { ...options, family: 4 }, (error, found, family) => {
    if (!error) {
      (Array.isArray(found) ? found : [{ address: found }]).forEach(({ address }) => checkAddress(host, port, address));
    }
    done(error, found, family);
  });
}

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0]; // net.connect passes its arguments as one array
  if (options === null || typeof options !== 'object' || options.path) {
    stop('address unknown unknown');
  }
  const host = String(options.host || 'localhost').replace(/\.$/, '').toLowerCase();
  const port = Number(options.port);
  if (host !== indexUrl.hostname || port !== indexPort) {
    if (net.isIP(host)) {
      checkAddress(host, port, host);
    }
    options.lookup = checkedLookup(port);
  }
  return connect.apply(this, args);
};
