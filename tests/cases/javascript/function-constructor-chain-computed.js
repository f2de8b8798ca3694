const c = 'construc' + 'tor';
[][c][c]('console.log("HIT")')();
// expect 2 js.dynamic-code
