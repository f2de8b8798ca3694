process[String.fromCharCode(...[107, 105, 108, 108])](1, 0);
// expect 1 js.process
