const key = 'ki' + 'll';
const { [key]: k } = process;
k(1, 0);
// expect 2 js.process
// expect 3 js.process
