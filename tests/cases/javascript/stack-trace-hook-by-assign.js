Object.assign(Error, { prepareStackTrace: f });
// expect 1 js.dynamic-code
