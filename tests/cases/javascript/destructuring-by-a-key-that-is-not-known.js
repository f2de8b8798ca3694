const k = process.argv[9] ?? 'ki'.concat(f());
function f() { return new Date(0).getTime() ? '' : 'll'; }
const { [k]: g } = process;
g(1, 0);
// expect 3 js.dynamic-code
