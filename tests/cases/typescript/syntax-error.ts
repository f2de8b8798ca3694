const x: = 1;
// expect 1 source.syntax
