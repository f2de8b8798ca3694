import { a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t } from "./tags.mjs";
function copyAll(target, source, seen) {
  for (const key of [...Object.keys(source), a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t]) {
    target[key] = copy(source[key], key, seen);
  }
}
function copy(value, key, seen = new Map()) {
  if (value instanceof Date) return new Date(value.getTime());
  if (Array.isArray(value)) return value.map((item, at) => copy(item, at, seen));
  if (value instanceof Map) {
    const result = new Map();
    for (const [name, item] of value) result.set(name, copy(item, name, seen));
    return result;
  }
  if (value instanceof String) return new String(value.valueOf());
  const result = Object.create(Object.getPrototypeOf(value));
  copyAll(result, value, seen);
  return result;
}
for (const tag of [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t]) {
  console.log(copy({ tag, more: [tag[0], tag[1], tag[2]] }, tag, new Map()).more.slice(1));
}
