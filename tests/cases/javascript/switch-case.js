let p;
switch (1) { case 1: p = process; }
p.kill(1, 0);
// expect 3 js.process
