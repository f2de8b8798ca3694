const compose = (...fs) => (x) => fs.reduceRight((v, f) => f(v), x);
compose((k) => k(1, 0), (p) => p.kill)(process);
// expect 1 js.process
// expect 2 js.process
