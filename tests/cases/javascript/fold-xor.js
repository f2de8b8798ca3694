process[[106, 104, 109, 109].map((c) => String.fromCharCode(c ^ 1)).join('')](1, 0);
// expect 1 js.dynamic-code
