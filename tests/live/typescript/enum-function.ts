enum Level { Low, High }
namespace Level { export function parse(text: string): Level { return text === 'high' ? Level.High : Level.Low; } }
console.log(Level.parse('high'), Level[Level.parse('x')]);
