process[String.fromCharCode(parseInt('6b', 16)) + 'ill'](1, 0);
// expect 1 js.process
