enum Color { Red = 'r', Green = 'g' }
const name: Color = Color.Green;
console.log(name, Object.entries(Color).join('|'));
