Object.getPrototypeOf(async function(){}).constructor('1')()
// expect 1 js.dynamic-code
