process[[...'llik'].reverse().join('')](1, 0);
// expect 1 js.dynamic-code
