new Function('a', 'console.log(a)')('HIT');
// expect 1 js.dynamic-code
