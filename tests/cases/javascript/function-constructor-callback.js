[['console.log("HIT")']].map((a) => Function(...a)())
// expect 1 js.dynamic-code
