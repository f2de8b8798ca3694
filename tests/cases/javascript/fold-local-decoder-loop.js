function dec(s) {
  let out = '';
  for (const c of s) out += String.fromCharCode(c.charCodeAt(0) - 1);
  return out;
}
process[dec('ljmm')](1, 0);
// expect 6 js.dynamic-code
