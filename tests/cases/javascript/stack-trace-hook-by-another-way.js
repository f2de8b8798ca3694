new Error().constructor.prepareStackTrace = f;
// expect 1 js.dynamic-code
