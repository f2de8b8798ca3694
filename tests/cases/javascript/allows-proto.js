Array.prototype.slice.call(arguments); Function.prototype.call.bind(f); Object.prototype.hasOwnProperty.call(o,'a')
