const memo = (f, cache = {}) => (...a) => { const k = JSON.stringify(a); return k in cache ? cache[k] : (cache[k] = f(...a)); };
function debounce(f, ms) { let t; return function (...a) { clearTimeout(t); t = setTimeout(() => f.apply(this, a), ms); }; }
debounce(() => console.log(memo((x) => x * 2)(2)), 1)();
