// SPDX-License-Identifier: MIT
// Prints a JSON Web Token: make_jwt.mjs ED25519.PEM RSA.PEM '{"alg": ..., CLAIM: ...}'. Times are
// in seconds from now; null omits a claim.
import { constants, createHmac, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';

const [, , ed, rsa, text] = process.argv;
const { alg = 'EdDSA', typ = 'JWT', kid, crit, tamper, ...claims } = JSON.parse(text);
const now = Math.floor(Date.now() / 1000);
const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const all = { iss: 'https://login.test', aud: 'https://gateway.test/mcp', sub: 'one', exp: 300, ...claims };
for (const [name, value] of Object.entries(all)) {
  if (value === null) delete all[name];
  else if (['exp', 'nbf'].includes(name)) all[name] = now + value;
}
const header = { alg, typ, kid: kid ?? (alg === 'EdDSA' ? 'ed' : 'rsa'), ...(crit ? { crit } : {}) };
const signed = `${encode(header)}.${encode(all)}`;
const data = Buffer.from(signed);
const key = createPrivateKey(readFileSync(alg === 'EdDSA' ? ed : rsa));
const signature = {
  none: () => Buffer.alloc(0),
  HS256: () => createHmac('sha256', createPublicKey(key).export({ type: 'spki', format: 'pem' })).update(data).digest(),
  EdDSA: () => sign(null, data, key),
  RS256: () => sign('sha256', data, key),
  PS256: () => sign('sha256', data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }),
}[alg]();
const sent = tamper ? `${encode(header)}.${encode({ ...all, sub: 'root' })}` : signed;
console.log(`${sent}.${signature.toString('base64url')}`);
