const handlers = { add: (s, a) => s + a, exec: (s) => s, eval: (s) => s };
const run = (s, { type, by }) => (handlers[type] || ((x) => x))(s, by);
console.log(run(1, { type: 'add', by: 2 }), run(1, { type: 'x' }));
