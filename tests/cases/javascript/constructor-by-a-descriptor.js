const d = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(() => 0), ['constr', 'uctor'].join('')).value; d('return process')();
// expect 1 js.dynamic-code
