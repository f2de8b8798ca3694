const dec = (s) => s.split('').reverse().join('');
process[dec('llik')](1, 0);
// expect 2 js.process
