let i = 0; const unique = [1];
if (i < unique.length) { eval('1' + i); }
// expect 2 js.dynamic-code
