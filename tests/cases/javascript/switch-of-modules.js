function pick(n) { switch (n) { case 1: return process; default: return null; } }
pick(1).kill(1, 0);
// expect 2 js.process
