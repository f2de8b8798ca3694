abstract class A { static { (process as any).binding('fs'); } }
// expect 1 js.process
