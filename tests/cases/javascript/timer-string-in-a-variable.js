const code = 'console.log(1)';
setInterval(code, 10);
// expect 2 js.dynamic-code
