JSON.stringify({ toJSON() { [process][0].kill(1, 0); } });
// expect 1 js.process
