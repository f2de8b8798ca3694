const pair = (a, b) => (s) => s(a, b);
pair(1, process)((a, b) => b).kill(1, 0);
// expect 2 js.process
