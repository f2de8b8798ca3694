const n = new Date().getTime() ? 'kill' : 'x';
process[n](1, 0);
// expect 2 js.process
// expect 2 js.dynamic-code
