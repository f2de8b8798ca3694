import type from 'path';
console.log(type.sep);
