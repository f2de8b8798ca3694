class A { static [Symbol.hasInstance](p) { p.kill(1, 0); return true; } }
process instanceof A;
// expect 1 js.process
