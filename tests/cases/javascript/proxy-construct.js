const P = new Proxy(class {}, { construct: () => process });
new P().kill(1, 0);
// expect 2 js.process
