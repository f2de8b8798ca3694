Object.getOwnPropertyDescriptors(fn.__proto__).constructor.value(s)();
// expect 1 js.dynamic-code
