// SPDX-License-Identifier: MIT
// Rewrites a cell for V8's REPL mode. Removes the types of TypeScript, and replaces the syntax that
// REPL mode does not parse: static imports and exports, import.meta, import() and a `return` at the
// top level. The names of the cell persist for later cells, and the value of its last expression is
// shown, as for every other cell. Line numbers do not change. The analyzer judged the cell before
// this rewriting, which adds no module to those that the cell names.
//
// The kernel runs this file, acorn and the compiler in a realm of their own: a program can replace
// the methods of strings and arrays of its own realm, and could change the rewriting of its next
// cell with them. Only strings enter and leave the realm.
'use strict';

// Options of acorn: accept the syntax of a script and of a module.
const OPTIONS = {
  __proto__: null, ecmaVersion: 'latest', sourceType: 'script', allowAwaitOutsideFunction: true, allowReturnOutsideFunction: true,
  allowImportExportEverywhere: true, allowHashBang: true,
};
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression', 'PropertyDefinition', 'StaticBlock']);

const nameOf = (node) => (node.type === 'Identifier' ? node.name : node.value);
const blank = (text) => text.replace(/[^\n\r\u2028\u2029]+/g, ' ');

// Returns a statement that loads the module of an `import` or `export ... from`. With `checksNames`
// the statement fails if the module lacks an imported name. TypeScript cells do not check their
// names, because a name may be a type.
function loading(node, checksNames, own) {
  const names = [], pattern = [];
  let namespace = null;
  for (const { type, imported, local } of node.type === 'ImportDeclaration' ? node.specifiers : []) {
    if (type === 'ImportNamespaceSpecifier') {
      namespace = local.name;
      continue;
    }
    const name = type === 'ImportDefaultSpecifier' ? 'default' : nameOf(imported);
    names.push(name);
    pattern.push(`${JSON.stringify(name)}: ${local.name}`);
  }
  const attributes = (node.attributes ?? []).map(({ key, value }) => `${JSON.stringify(nameOf(key))}: ${value.raw}`);
  const load = `await ${own('static')}(${node.source.raw}, ${JSON.stringify(checksNames ? names : [])}, {${attributes.join(', ')}})`;
  if (namespace !== null && pattern.length > 0) return `const ${namespace} = ${load}, {${pattern.join(', ')}} = ${namespace};`;
  if (namespace !== null) return `const ${namespace} = ${load};`;
  return pattern.length > 0 ? `const {${pattern.join(', ')}} = ${load};` : `${load};`;
}

// Returns the changes to the text, as [start, end, replacement], and the statements that load
// modules, which have to run before the rest of the cell.
function changesOf(tree, code, checksNames, own) {
  const changes = [], loads = [];
  const leaveOut = (start, end) => changes.push([start, end, blank(code.slice(start, end))]);
  for (const node of tree.body) {
    if (node.type === 'ImportDeclaration' || ((node.type === 'ExportNamedDeclaration' || node.type === 'ExportAllDeclaration') && node.source)) {
      loads.push(loading(node, checksNames, own));
      leaveOut(node.start, node.end);
    } else if (node.type === 'ExportNamedDeclaration') {
      leaveOut(node.start, node.declaration === null ? node.end : node.declaration.start);
    } else if (node.type === 'ExportDefaultDeclaration') {
      const { declaration } = node, isNamed = /Declaration$/.test(declaration.type) && declaration.id !== null;
      leaveOut(node.start, declaration.start);
      if (isNamed) continue;
      changes.push([declaration.start, declaration.start, '('], [declaration.end, declaration.end, ');']);
    }
  }
  // Without recursion: hostile code is nested deeply.
  const queue = [{ node: tree, inFunction: false }];
  for (let item; (item = queue.pop()) !== undefined;) {
    const { node } = item, inFunction = item.inFunction || FUNCTIONS.has(node.type);
    if (node.type === 'MetaProperty' && node.meta.name === 'import') changes.push([node.start, node.end, own('meta')]);
    if (node.type === 'ImportExpression') changes.push([node.start, node.start + 'import'.length, own('import')]);
    if (node.type === 'ReturnStatement' && !item.inFunction) {
      changes.push([node.start, node.start + 'return'.length, `throw ${own('return')}(`]);
      const end = node.argument === null ? node.start + 'return'.length : node.argument.end;
      changes.push([end, end, ')']);
    }
    for (const key of Object.keys(node)) {
      const child = node[key];
      for (const each of Array.isArray(child) ? child : [child]) if (typeof each?.type === 'string') queue.push({ node: each, inFunction });
    }
  }
  return { changes, loads };
}

// Returns the cell for REPL mode; the same text if it needs no change or has a syntax error. A cell
// with imports or exports is a module, so its code is strict. `own` returns the global name of a
// function of the kernel.
function rewrite(code, parse, checksNames, own) {
  let tree;
  try {
    tree = parse(code, OPTIONS);
  } catch {
    return code; // V8 reports the error
  }
  const { changes, loads } = changesOf(tree, code, checksNames, own);
  if (changes.length === 0) return code;
  const order = changes.map((change, index) => ({ change, index })).sort((a, b) => a.change[0] - b.change[0] || a.change[1] - b.change[1] || a.index - b.index);
  let text = '', at = 0;
  for (const { change: [start, end, instead] } of order) {
    if (start < at) continue; // within a removed range
    text += code.slice(at, start) + instead;
    at = end;
  }
  text += code.slice(at);
  const isModule = tree.body.some(({ type }) => /^(Import|Export)/.test(type));
  return `${isModule ? "'use strict'; void 0; " : ''}${loads.join(' ')}${loads.length > 0 ? ' ' : ''}${text.replace(/^#!/, '//')}`;
}

// --- TypeScript -------------------------------------------------------------------------------------------------

// Turns `import x = require('y')` into a constant: the compiler drops it outside of CommonJS
// modules.
const importsAsConstants = (compiler) => (context) => {
  const { factory } = context;
  const change = (node) => {
    if (!compiler.isImportEqualsDeclaration(node) || node.isTypeOnly || !compiler.isExternalModuleReference(node.moduleReference)) return node;
    const call = factory.createCallExpression(factory.createIdentifier('require'), undefined, [node.moduleReference.expression]);
    return factory.createVariableStatement(undefined, factory.createVariableDeclarationList([factory.createVariableDeclaration(node.name, undefined, undefined, call)], compiler.NodeFlags.Const));
  };
  return (file) => factory.updateSourceFile(file, file.statements.map(change));
};

// Returns the compiler's output for a cell, or its errors as an array of lines. In a session the
// output keeps the imports that this cell does not use, because a later cell may use them.
function withoutTypes(code, compiler, isProgram, isMarkup) {
  const { JsxEmit, ModuleKind, ScriptTarget, transpileModule } = compiler;
  const { outputText, diagnostics } = transpileModule(code, {
    fileName: isMarkup ? 'cell.tsx' : 'cell.ts',
    reportDiagnostics: true,
    transformers: { before: [importsAsConstants(compiler)] },
    compilerOptions: { target: ScriptTarget.ES2022, module: ModuleKind.ESNext, jsx: JsxEmit.React, verbatimModuleSyntax: !isProgram },
  });
  const errors = diagnostics.map(({ file, start, messageText }) => `line ${file.getLineAndCharacterOfPosition(start).line + 1}: ${compiler.flattenDiagnosticMessageText(messageText, '\n')}`);
  return errors.length > 0 ? errors : outputText.replace(/^export \{\};\s*$/m, ''); // emitted if the cell imports only types
}

// The two functions for the kernel. Both return JSON: a text, or an array of errors. `secret` is a
// part of the global names of the kernel's functions.
module.exports = (acorn, compiler) => ({
  rewrite: (code, secret) => JSON.stringify(rewrite(code, acorn.parse, compiler === null, (name) => `__codebox_${name}_${secret}__`)),
  withoutTypes: (code, isProgram, isMarkup) => JSON.stringify(withoutTypes(code, compiler, isProgram, isMarkup)),
});
