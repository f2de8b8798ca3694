import { writeFile } from 'fs/promises';
await writeFile('./x.mjs', text);
await import('./x.mjs');
// expect 3 any.written-import
