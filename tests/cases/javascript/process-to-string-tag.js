const o = { toString() { process['ki' + 'll'](1, 0); return ''; } };
`${o}`;
// expect 1 js.process
