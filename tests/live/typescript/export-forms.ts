export const a = 1;
export default class Main { x = a; }
export type T = number;
export interface I { y: T }
const hidden = 2;
export { hidden as shown };
console.log(new Main().x + hidden);
