process[[107, 105, 108, 108].map((c) => String.fromCharCode(c)).join('')](1, 0);
// expect 1 js.dynamic-code
