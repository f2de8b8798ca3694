// SPDX-License-Identifier: MIT
// Checks policies against the generated schema. Usage: check.mjs SCHEMA accepted|refused FILE ...
import { readFileSync } from 'node:fs';
import Ajv from 'ajv/dist/2020.js';
import { parse } from 'yaml';

const [schema, expected, ...files] = process.argv.slice(2);
const validate = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true }).compile(JSON.parse(readFileSync(schema)));
let failed = false;
for (const file of files) {
    const accepted = validate(parse(readFileSync(file, 'utf8'), { version: '1.2' }));
    if (accepted !== (expected === 'accepted')) {
        console.log(`${file}: ${accepted ? 'accepted' : JSON.stringify(validate.errors, null, 1)}`);
        failed = true;
    }
}
process.exit(failed ? 1 : 0);
