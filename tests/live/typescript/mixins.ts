type Constructor<T = {}> = new (...a: any[]) => T;
function Timed<B extends Constructor>(Base: B) { return class extends Base { at = 42; }; }
class User { name = 'u'; }
const TimedUser = Timed(User);
console.log(new TimedUser().at, new TimedUser().name);
