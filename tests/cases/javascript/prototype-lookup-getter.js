const o = { get p() { return process; } };
o.__lookupGetter__('p')().kill(1, 0);
// expect 2 js.process
// expect 2 js.dynamic-code
