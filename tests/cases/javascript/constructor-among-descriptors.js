Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(() => 1)))
  .filter(([k]) => k.startsWith('constr')).map(([, d]) => d.value('return process')());
// expect 1 js.dynamic-code
