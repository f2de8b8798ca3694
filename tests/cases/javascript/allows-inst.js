if (f instanceof Function) f(); typeof f === 'function'
