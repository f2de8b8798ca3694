class A { static accessor run = eval; accessor x = 1; static
  accessor y = 2; }
A.run("1");
// expect 1 js.dynamic-code
// expect 3 js.dynamic-code
