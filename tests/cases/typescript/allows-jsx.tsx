import React, { useState } from 'react';
type P = { n: number; label?: string };
export const C: React.FC<P> = ({ n, label = "a" }) => {
  const [x, setX] = useState<number>(n);
  return <button disabled={x > 3} onClick={() => setX(x + 1)}>Tom & Jerry {label} {x as number}</button>;
};
const id = <T,>(v: T): T => v;
function G<T extends object>({ v }: { v: T }) { return <pre>{JSON.stringify(v)}</pre>; }
const x: number = a & b;
const y = <p title="a&b">Tom & Jerry {a as number & 3}</p>;
