for (const k in process) if (k === 'kill') process[k](1, 0);
// expect 1 js.dynamic-code
