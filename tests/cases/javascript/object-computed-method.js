const o = { ['a' + 'b']: () => process };
o.ab().kill(1, 0);
// expect 2 js.process
