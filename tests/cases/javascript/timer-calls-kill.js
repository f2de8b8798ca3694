const k = process['ki' + 'll'];
setTimeout(k, 0, 1, 0);
// expect 1 js.process
// expect 2 js.process
