[].at.constructor.apply(null, ['return process'])();
// expect 1 js.dynamic-code
