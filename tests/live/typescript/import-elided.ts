import { Unknown } from './no-such-module.js';
let x: Unknown | undefined;
console.log(x);
