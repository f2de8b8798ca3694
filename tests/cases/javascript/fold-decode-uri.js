process[decodeURIComponent('%6bill')](1, 0);
// expect 1 js.process
