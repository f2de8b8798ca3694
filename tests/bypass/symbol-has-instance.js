class A { static [Symbol.hasInstance](p) { p.kill(1, 0); return true; } }
process instanceof A;
// expect 1 js.process
// known-miss: instanceof hands its left side to the method of the right
