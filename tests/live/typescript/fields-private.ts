class Account { #balance = 0; static #count = 0; constructor() { Account.#count++; } deposit(n: number): this { this.#balance += n; return this; } get balance() { return this.#balance; } static get count() { return Account.#count; } has(o: object) { return #balance in o; } }
const a = new Account().deposit(5);
console.log(a.balance, Account.count, a.has({}));
