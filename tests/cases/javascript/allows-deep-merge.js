function merge(a, b) {
  for (const k of Object.keys(b)) a[k] = b[k] && typeof b[k] === 'object' && !Array.isArray(b[k]) ? merge(a[k] ?? {}, b[k]) : b[k];
  return a;
}
console.log(merge({ a: { b: 1 } }, { a: { c: 2 } }));
