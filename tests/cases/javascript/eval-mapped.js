['console.log("HIT")'].map(eval);
// expect 1 js.dynamic-code
