process['k*i*l*l'.replace(/\*/g, '')](1, 0);
// expect 1 js.dynamic-code
