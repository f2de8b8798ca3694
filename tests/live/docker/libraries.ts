// SPDX-License-Identifier: MIT
// The libraries of Node's images through import, in TypeScript. Prints "ok NAME" or "FAILED NAME:
// why".
import _ from 'lodash';
import dayjs from 'dayjs';
import { evaluate, matrix, multiply } from 'mathjs';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import Papa from 'papaparse';
import yaml from 'js-yaml';
import { z } from 'zod';
import * as statistics from 'simple-statistics';

function use(name: string, good: boolean): void {
  console.log(good ? 'ok' : 'FAILED', name);
}

interface Row { n: string }
const rows: Row[] = parse('n\n1\n', { columns: true });
use('lodash', _.sumBy([{ n: 1 }, { n: 2 }], 'n') === 3);
use('dayjs', dayjs('2026-11-23').day() === 1);
use('mathjs', evaluate('sqrt(16)') === 4 && multiply(matrix([[1, 2]]), matrix([[3], [4]])).get([0, 0]) === 11);
use('csv-parse', rows[0].n === '1');
use('csv-stringify', stringify([[1, 2]]) === '1,2\n');
use('papaparse', Papa.parse<string[]>('a,b').data[0][1] === 'b');
use('js-yaml', (yaml.load('a: 1') as { a: number }).a === 1);
use('zod', z.array(z.number()).parse([1]).length === 1);
use('simple-statistics', statistics.median([1, 2, 3]) === 2);
