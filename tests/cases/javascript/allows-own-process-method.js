class Queue {
  constructor() { this.items = []; }
  process(f) { return this.items.map(f); }
  exec(sql) { return sql; }
}
const q = new Queue();
q.items.push(1);
console.log(q.process((x) => x + 1), q.exec('select 1'));
