Object.defineProperty(Object.prototype, 'zz', { get: function () { const [f, k] = this; return f[k]; } });
const F = [() => 0, 'constructor'].zz; F('return process')();
// expect 2 js.dynamic-code
