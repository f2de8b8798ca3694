class Node { constructor(v, next = null) { this.v = v; this.next = next; } }
let head = null;
for (const v of [1, 2, 3]) head = new Node(v, head);
let prev = null, cur = head;
while (cur) { const next = cur.next; cur.next = prev; prev = cur; cur = next; }
const walk = (t) => (t ? [...walk(t.left), t.v, ...walk(t.right)] : []);
console.log(prev.v, walk({ v: 1, left: { v: 0 } }));
