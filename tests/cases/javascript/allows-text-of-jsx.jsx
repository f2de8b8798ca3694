export default function App({ items, a, b }) {
  return (
    <div className="x" data-foo="1" aria-label='y' {...a}>
      <h1>Tom & Jerry's "text" &amp; more</h1>
      {items.map((i) => <Item key={i} onClick={() => b(i)} />)}
      <>fragment & a</>
      <Foo.Bar x:y="2" />
    </div>
  );
}
const x = a & b;
const y = a && <p>Tom & Jerry && co & {a & b} {c && <b>x & y</b>}</p>;
const s = "a & b";
const u = <a href="?a=1&b=2" title='x & y'>"it's" &amp; more & more</a>;
