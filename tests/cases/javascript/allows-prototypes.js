function Animal(name) { this.name = name; }
Animal.prototype.speak = function () { return this.name; };
function Dog(name) { Animal.call(this, name); }
Dog.prototype = Object.create(Animal.prototype);
Dog.prototype.constructor = Dog;
console.log(new Dog('x').speak(), Dog.prototype.isPrototypeOf(new Dog('y')), Object.getPrototypeOf(new Dog('z')) === Dog.prototype);
