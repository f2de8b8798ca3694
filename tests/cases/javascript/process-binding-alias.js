const p = process;
console.log('HIT', typeof p.binding('fs'));
// expect 2 js.process
