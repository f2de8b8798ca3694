let p = null;
do { p = p || process; } while (!p);
p.kill(1, 0);
// expect 3 js.process
