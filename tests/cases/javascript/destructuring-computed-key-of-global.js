const { ['pro' + 'cess']: p } = globalThis;
p.kill(1, 0);
// expect 2 js.process
