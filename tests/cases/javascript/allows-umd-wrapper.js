(function (root, factory) {
  if (typeof define === 'function' && define.amd) define(['exports'], factory);
  else if (typeof exports === 'object') factory(exports);
  else factory((root.lib = {}));
})(typeof self !== 'undefined' ? self : this, function (exports) {
  exports.add = function (a, b) { return a + b; };
});
