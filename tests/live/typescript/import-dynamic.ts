const { basename } = await import('path');
console.log(basename('/a/b.txt'));
