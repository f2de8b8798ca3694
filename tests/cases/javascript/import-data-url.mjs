await import('data:text/javascript,console.log("HIT")');
// expect 1 js.dynamic-code
