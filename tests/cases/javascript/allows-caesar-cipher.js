const caesar = (s, n) => s.replace(/[a-z]/g, (c) => String.fromCharCode(((c.charCodeAt(0) - 97 + n) % 26) + 97));
console.log(caesar('hello', 3), [...'abc'].map((c) => c.charCodeAt(0)), Buffer.from('aGk=', 'base64').toString(), btoa('x'), encodeURIComponent('ä'));
