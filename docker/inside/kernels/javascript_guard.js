// SPDX-License-Identifier: MIT
// Refuses code that a program makes of a text (row evaluate-text of policies/guard/guard.def). The
// constructors of functions, and eval, are replaced by proxies that check the caller. A program
// reaches the constructors only through the replaced properties: the global object has Function
// and eval, the prototypes of functions the constructors of their kinds.
//
// Code of the image and of installed packages may make code for itself. The function that calls
// decides: V8 knows the file of each script, and a comment in the script does not change it.
'use strict';
const { getCallSites } = require('util');
const { isOfImage } = require('./javascript_loaders.js');

const { Error, Proxy } = globalThis;
const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Object;
const { apply, construct } = Reflect;

const URL_START = 'file://', CALLER = 2; // behind check() and a trap

function fileOf(name) {
  for (let i = 0; i < URL_START.length; i++) if (name[i] !== URL_START[i]) return name;
  let path = '';
  for (let i = URL_START.length; i < name.length; i++) path += name[i];
  return path;
}

// Installs the proxies; `report` is called for each refusal. Called once, before a program runs.
function refuseCode(report) {
  function check() {
    const frames = getCallSites(CALLER + 1);
    if (frames.length > CALLER && isOfImage(fileOf(frames[CALLER].scriptName))) return;
    report();
    const error = new Error('the policy denies code that is made of a text');
    error.code = 'ERR_ACCESS_DENIED'; // as of Node's permission model
    throw error;
  }
  const traps = {
    __proto__: null,
    apply(target, self, parameters) {
      check();
      return apply(target, self, parameters);
    },
    construct(target, parameters, made) {
      check();
      return construct(target, parameters, made);
    },
  };
  function replace(object, name) {
    const before = getOwnPropertyDescriptor(object, name);
    const value = new Proxy(before.value, traps);
    defineProperty(object, name, { __proto__: null, value, writable: before.writable, enumerable: before.enumerable, configurable: before.configurable });
    return { real: before.value, value };
  }
  const { value: guarded } = replace(Function.prototype, 'constructor');
  for (const each of [async () => {}, function* () {}, async function* () {}]) {
    const { real } = replace(getPrototypeOf(each), 'constructor');
    setPrototypeOf(real, guarded); // was Function itself
  }
  globalThis.Function = guarded;
  replace(globalThis, 'eval');
}

module.exports = { refuseCode };
