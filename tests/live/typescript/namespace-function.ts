function counter() { return ++counter.value; }
namespace counter { export let value = 10; }
counter();
console.log(counter());
