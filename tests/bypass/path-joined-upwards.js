process[require('path').join('a', '..', 'kill')](1, 0);
// expect 1 js.process
// known-miss: a join with .. is folded as text
