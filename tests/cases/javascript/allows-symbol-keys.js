console.log('OK'[Symbol.iterator]().next(), people[Symbol.iterator]());
