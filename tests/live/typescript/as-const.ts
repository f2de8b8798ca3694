const roles = ['admin', 'user'] as const;
type Role = (typeof roles)[number];
const r: Role = 'user';
console.log(roles.includes(r), (<const>{ a: 1 }).a);
