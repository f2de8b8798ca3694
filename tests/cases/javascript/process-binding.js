const b = process['bind' + 'ing'];
console.log('HIT', typeof b);
// expect 1 js.process
// expect 2 js.process
