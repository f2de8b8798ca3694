Reflect.ownKeys(process).includes('kill');
const n = Object.keys(process).find((k) => k === 'kill');
process[n](1, 0);
// expect 3 js.dynamic-code
