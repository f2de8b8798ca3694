#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Finds the functions of Python libraries that run code, load modules or start programs which an
argument determines.

    library.py FOLDER...     prints rows for library.def

Reads the source of every module in the folders (of the image: /usr/lib/python3.13 and
/usr/lib/python3/dist-packages) with `ast` and follows arguments. A function gets a row if a parameter
reaches exec(), __import__(), Popen() or another row of ROOTS, directly or through other functions. If
a method passes on an attribute that the constructor sets from an argument, the class gets the row.
Constants do not count: a function that imports a fixed name or compiles a fixed pattern gets no row.
Prints an alias for each name that imports such a function from another module. The output is a
proposal: review it, and add the correct rows to library.def. Rows of sinks.def are not printed.
"""
import ast
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# callable -> (capability, position of the argument that determines the code or program; '*': any)
ROOTS = {
    'exec': ('RUN_CODE', '0'), 'eval': ('RUN_CODE', '0'), 'compile': ('RUN_CODE', '0'), 'builtins.exec': ('RUN_CODE', '0'),
    '__import__': ('LOAD_MODULE', '0'), 'importlib.import_module': ('LOAD_MODULE', '0'), 'importlib.__import__': ('LOAD_MODULE', '0'),
    'os.system': ('PROCESS', '0'), 'os.popen': ('PROCESS', '0'), 'subprocess.Popen': ('PROCESS', '*'), 'subprocess.run': ('PROCESS', '*'),
    'subprocess.call': ('PROCESS', '*'), 'subprocess.check_call': ('PROCESS', '*'), 'subprocess.check_output': ('PROCESS', '*'),
    'subprocess.getoutput': ('PROCESS', '*'), 'subprocess.getstatusoutput': ('PROCESS', '*'), 'os.execv': ('PROCESS', '*'),
    'os.execve': ('PROCESS', '*'), 'os.execvp': ('PROCESS', '*'), 'os.execvpe': ('PROCESS', '*'), 'os.spawnv': ('PROCESS', '*'),
    'os.spawnve': ('PROCESS', '*'), 'os.posix_spawn': ('PROCESS', '*'), '_posixsubprocess.fork_exec': ('PROCESS', '*'),
    'asyncio.create_subprocess_exec': ('PROCESS', '*'), 'asyncio.create_subprocess_shell': ('PROCESS', '*'),
    'runpy.run_path': ('RUN_CODE', '0'), 'runpy.run_module': ('RUN_CODE', '0'), 'types.FunctionType': ('RUN_CODE', '*'),
    'pickle.load': ('DESERIALISE', '0'), 'pickle.loads': ('DESERIALISE', '0'), 'pickle.Unpickler': ('DESERIALISE', '0'),
    'marshal.load': ('DESERIALISE', '0'), 'marshal.loads': ('DESERIALISE', '0'), 'ctypes.CDLL': ('NATIVE', '0'),
    'importlib.util.spec_from_file_location': ('LOAD_MODULE', '*'), 'pkgutil.resolve_name': ('LOAD_MODULE', '0'),
}
LEFT_OUT = re.compile(r'(^|\.)(test|tests|testing|idlelib|lib2to3|distutils|turtledemo|ensurepip|venv|multiprocessing|'
                      r'subprocess|__main__|_distutils_hack|pydoc_data)(\.|$)')


class Function:
    def __init__(self, name, node, module, owner):
        self.name, self.node, self.module, self.owner = name, node, module, owner
        a = node.args
        self.params = [p.arg for p in a.posonlyargs + a.args]
        self.all = set(self.params) | {p.arg for p in a.kwonlyargs}
        self.all |= {p.arg for p in (a.vararg, a.kwarg) if p}
        self.flows = {}  # parameter -> capabilities
        self.nodes = list(ast.walk(node))
        self.calls = [(n, dotted(n.func)) for n in self.nodes if isinstance(n, ast.Call)]
        self.binds = [n for n in self.nodes if isinstance(n, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.comprehension, ast.With))]
        self.method = owner is not None and self.params and self.params[0] in ('self', 'cls')


class Module:
    def __init__(self, name, tree):
        self.name, self.tree = name, tree
        self.imports, self.froms = {}, {}  # local name -> module; local name -> qualified name


def modules(folder):
    for root, dirs, files in os.walk(folder, followlinks=True):
        dirs[:] = sorted(d for d in dirs if d != '__pycache__' and d != 'dist-packages')
        for file in sorted(files):
            if file.endswith('.py'):
                path = os.path.join(root, file)
                name = os.path.relpath(path, folder)[:-3].replace(os.sep, '.')
                name = name[:-9] if name.endswith('.__init__') else name
                if not LEFT_OUT.search(name):
                    try:
                        yield Module(name, ast.parse(open(path, encoding='utf-8', errors='replace').read()))
                    except SyntaxError:
                        pass


def dotted(node):
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return base and base + '.' + node.attr
    return None


def read(module, functions, classes, packages):
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for a in node.names:
                module.imports[a.asname or a.name.split('.')[0]] = a.name if a.asname else a.name.split('.')[0]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ''
            if node.level:
                parts = module.name.split('.')
                parts = parts[:len(parts) - node.level + (module.name in packages)]
                base = '.'.join(parts + ([node.module] if node.module else []))
            for a in node.names:
                module.froms[a.asname or a.name] = base + '.' + a.name

    def visit(body, prefix, owner):
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                functions[prefix + '.' + node.name] = Function(prefix + '.' + node.name, node, module, owner)
            elif isinstance(node, ast.ClassDef):
                classes[prefix + '.' + node.name] = [dotted(b) for b in node.bases]
                visit(node.body, prefix + '.' + node.name, prefix + '.' + node.name)
            elif isinstance(node, (ast.If, ast.Try)):
                for part in ('body', 'orelse', 'handlers', 'finalbody'):
                    for child in getattr(node, part, []):
                        visit(child.body if isinstance(child, ast.ExceptHandler) else [child], prefix, owner)
    visit(module.tree.body, module.name, None)


def qualify(function, name, functions, classes):
    """Returns the qualified name of a callee, given its spelling in a function; None if unknown."""
    module = function.module
    head, _, rest = name.partition('.')
    if head in ('self', 'cls') and function.owner and rest and '.' not in rest:
        owner = function.owner
        for _ in range(4):
            if owner + '.' + rest in functions:
                return owner + '.' + rest
            bases = [b for b in classes.get(owner, []) if b]
            if not bases:
                break
            base = bases[0]
            owner = module.froms.get(base) or (module.name + '.' + base)
        return None
    if head in module.froms:
        head = module.froms[head]
    elif head in module.imports:
        head = module.imports[head]
    elif module.name + '.' + head in functions or module.name + '.' + head in classes:
        head = module.name + '.' + head
    elif rest:
        return None
    full = head + ('.' + rest if rest else '')
    return full[9:] if full.startswith('builtins.') else full


def tainted(node, taint):
    """Returns the parameters that an expression depends on, also through attributes of self."""
    found = set()
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and n.id in taint:
            found |= taint[n.id]
        elif isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == 'self':
            found |= taint.get('self.' + n.attr, set())
    return found


def analyse(function, functions, classes, kept):
    """Follows the arguments through a function once. Returns True if a new flow was found."""
    taint = {p: {p} for p in function.all if p not in ('self', 'cls')}
    for attr in kept.get(function.owner, ()):
        taint['self.' + attr] = {'self'}
    changed = False
    for _ in range(2):  # twice, because in a loop an assignment may follow its use
        for node in function.binds:
            targets, value = [], None
            if isinstance(node, ast.Assign):
                targets, value = node.targets, node.value
            elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
                targets, value = [node.target], node.value
            elif isinstance(node, (ast.For, ast.comprehension)):
                targets, value = [node.target], node.iter
            elif isinstance(node, ast.With):
                for item in node.items:
                    if item.optional_vars is not None and tainted(item.context_expr, taint):
                        targets, value = [item.optional_vars], item.context_expr
            if value is None or isinstance(value, (ast.Compare, ast.Lambda)):
                continue
            flow = tainted(value, taint)
            for target in targets if flow else ():
                for n in ast.walk(target):
                    if isinstance(n, ast.Name):
                        taint[n.id] = taint.get(n.id, set()) | flow
                    elif isinstance(n, ast.Attribute) and dotted(n.value) == 'self':
                        taint['self.' + n.attr] = taint.get('self.' + n.attr, set()) | flow
                        if function.owner and n.attr not in kept.setdefault(function.owner, set()) and \
                                function.node.name == '__init__' and flow - {'self'}:
                            kept[function.owner].add(n.attr)
                            changed = True
    for node, name in function.calls:
        full = name and qualify(function, name, functions, classes)
        if full is None:
            continue
        arguments = [(i, a) for i, a in enumerate(node.args)] + [(k.arg or '**', k.value) for k in node.keywords]
        hits = []
        if full in ROOTS:
            capability, which = ROOTS[full]
            hits = [(capability, a) for at, a in arguments
                    if which == '*' or at == int(which) or at in ('name', 'source', 'args', 'cmd', 'command')]
        callee = functions.get(full) or functions.get(full + '.__init__')
        if callee is not None and callee is not function:
            offset = 1 if callee.method else 0
            for at, a in arguments:
                parameter = at if isinstance(at, str) else \
                    callee.params[at + offset] if at + offset < len(callee.params) else None
                for capability in callee.flows.get(parameter, ()):
                    hits.append((capability, a))
            if name.startswith('self.'):
                for capability in callee.flows.get('self', ()):
                    if capability not in function.flows.setdefault('self', set()):
                        function.flows['self'].add(capability)
                        changed = True
        for capability, argument in hits:
            for parameter in tainted(argument, taint):
                if capability not in function.flows.setdefault(parameter, set()):
                    function.flows[parameter].add(capability)
                    changed = True
    return changed


def main():
    functions, classes, kept, all_modules = {}, {}, {}, []
    for folder in sys.argv[1:]:
        all_modules += list(modules(folder))
    packages = {m.name.rpartition('.')[0] for m in all_modules} - {''}
    for module in all_modules:
        read(module, functions, classes, packages)
    for _ in range(12):
        if not any([analyse(f, functions, classes, kept) for f in functions.values()]):
            break
    rows = {}
    for function in functions.values():
        name = function.name
        if name.endswith('.__init__'):
            name = name[:-9]
        capabilities = set().union(*function.flows.values()) if function.flows else set()
        if capabilities and function.flows.keys() == {'self'} and function.owner:
            rows.setdefault(function.owner, set()).update(capabilities)  # the flow starts at an argument of the constructor
        elif capabilities:
            rows.setdefault(name, set()).update(capabilities)
    known = set(re.findall(r'CBX_(?:SINK|MODULE|PACKAGE)\("([^"]+)"', open(os.path.join(HERE, 'sinks.def'), encoding='utf-8').read()))
    covered = lambda n: any(n[:i] in known for i in [k for k, c in enumerate(n) if c == '.'] + [len(n)])
    for name in sorted(rows):
        if not covered(name):
            print('CBX_SINK("%s", %s)' % (name, ' | '.join(sorted(rows[name]))))
    powerful = set(rows) | set(ROOTS) | {n for n in known if '*' not in n}
    for module in all_modules:
        for local, full in sorted(module.froms.items()):
            if full in powerful and not covered(module.name + '.' + local) and '.' in full:
                print('CBX_ALIAS("%s.%s", "%s")' % (module.name, local, full))


main()
