// SPDX-License-Identifier: MIT
// Loaded before npm: a redirect to another host ends the process. The packages of npm reach the network through these two functions alone.
'use strict';
const http = require('http');
const https = require('https');

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
    require('fs').writeSync(2, `codebox: redirect ${originOf(from)} ${to}\n`);
    process.exit(3);
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
