process['k-i-l-l'.split('-').join('')](1, 0);
// expect 1 js.process
