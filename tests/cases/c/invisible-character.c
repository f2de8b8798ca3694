int a​b = 1;
// expect 1 source.bidi
// expect 1 source.syntax
