let a = process, b = 1;
[a, b] = [b, a];
b.kill(1, 0);
// expect 3 js.process
