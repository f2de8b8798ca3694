Reflect.apply([].at.constructor, null, ['return process'])();
// expect 1 js.dynamic-code
