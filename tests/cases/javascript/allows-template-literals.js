const html = (strings, ...values) => strings.reduce((out, s, i) => out + s + (values[i] ?? ''), '');
const name = 'x';
console.log(`a ${name} ${`b ${1 + 1}`}`, html`<b>${name}</b>`, String.raw`\n${name}`);
