process[require('path').join('a', '..', 'kill')](1, 0);
// expect 1 js.dynamic-code
