Reflect.construct([].at.constructor, ['return process'])();
// expect 1 js.dynamic-code
