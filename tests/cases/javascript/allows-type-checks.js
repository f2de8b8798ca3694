const type = (x) => Object.prototype.toString.call(x).slice(8, -1);
console.log(type([]), typeof null, Array.isArray([]), type(async () => {}), (() => {}) instanceof Function, Number.isNaN(NaN));
