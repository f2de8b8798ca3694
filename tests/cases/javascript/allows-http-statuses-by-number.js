const texts = { 200: 'ok', 404: 'not found' };
const text = (c) => texts[c] || 'unknown';
console.log(text(200), [200, 404].map(text));
