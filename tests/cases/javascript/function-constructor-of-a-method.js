''.sub.constructor('console.log("HIT")')();
// expect 1 js.dynamic-code
