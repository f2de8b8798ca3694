new WeakRef(process).deref().kill(1, 0);
// expect 1 js.process
