class A { [Symbol.toPrimitive]() { [process][0].kill(1, 0); return 1; } }
+new A();
// expect 1 js.process
