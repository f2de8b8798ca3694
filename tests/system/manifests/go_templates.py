# SPDX-License-Identifier: MIT
"""Renders the templates of a Helm chart: the part of Go's text/template, and of Helm's functions, that the chart of this project uses.
Anything else is an error, so the chart stays as simple as this file. Maps are printed in the order of their keys, as Helm does."""
import hashlib
import os
import re

import yaml

LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|(-?\d+)|(\|)|(\()|(\))|(:=)|(,)|([$.]?[\w]*(?:\.\w+)*|\.))')


# Texts that stand for files, by their paths: inputs that are wrong on purpose.
replaced = {}


def read(path):
    if path in replaced:
        return replaced[path]
    with open(path, encoding='utf-8') as file:
        return file.read()


class Wrong(Exception):
    pass


def tokens_of(text):
    tokens, at = [], 0
    while at < len(text.rstrip()):
        match = TOKEN.match(text, at)
        if not match or match.end() == at:
            raise Wrong('cannot read the action: ' + text)
        tokens.append(match.group().strip())
        at = match.end()
    return tokens


def split_source(source):
    """Texts and actions in turn; `-` beside a brace removes white space on its side."""
    parts, at, trims = [], 0, False
    for match in re.finditer(r'\{\{(-(?=\s))?(.*?)((?<=\s)-)?\}\}', source, re.S):
        text = source[at:match.start()]
        text = text.lstrip() if trims else text
        parts.append(('text', text.rstrip() if match.group(1) else text))
        action = match.group(2).strip()
        if not action.startswith('/*'):
            parts.append(('action', action))
        trims, at = bool(match.group(3)), match.end()
    parts.append(('text', source[at:].lstrip() if trims else source[at:]))
    return parts


def parse(parts, definitions, at=0, inside=False):
    """A list of nodes up to the `else` or `end` that closes it, and the index behind it."""
    nodes = []
    while at < len(parts):
        kind, text = parts[at]
        at += 1
        if kind == 'text':
            nodes.append(('text', text))
            continue
        word = text.split(None, 1)[0] if text else ''
        rest = text[len(word):].strip()
        if word in ('end', 'else'):
            if not inside:
                raise Wrong('an %s without a beginning' % word)
            return nodes, at, word, rest
        if word in ('if', 'with', 'range', 'define'):
            node, at = parse_block(parts, definitions, at - 1)
            if word == 'define':
                definitions[rest.strip('"')] = node[2]
            else:
                nodes.append(node)
            continue
        nodes.append(('value', text))
    if inside:
        raise Wrong('an end is missing')
    return nodes, at, '', ''


def parse_block(parts, definitions, at):
    """The block whose first action is at this index, and the index behind its end."""
    word, rest = parts[at][1].split(None, 1)
    body, at, closed, condition = parse(parts, definitions, at + 1, True)
    other = []
    if closed == 'else' and condition:  # else if: a block that the same end closes
        parts.insert(at, ('action', condition))
        block, at = parse_block(parts, definitions, at)
        other = [block]
    elif closed == 'else':
        other, at, _, _ = parse(parts, definitions, at, True)
    return (word, rest, body, other), at


def to_yaml(value):
    return yaml.safe_dump(value, default_flow_style=False, allow_unicode=True, width=1000).rstrip('\n')


def shown(value):
    if value is None:
        return ''
    return {True: 'true', False: 'false'}.get(value, str(value)) if isinstance(value, bool) else str(value)


class Chart:
    def __init__(self, folder, release='codebox', namespace='codebox', values=None):
        self.folder = folder
        self.definitions = {}
        self.files = {}
        chart = yaml.load(read(folder + '/Chart.yaml'), LOADER)
        merged = merge(yaml.load(read(folder + '/values.yaml'), LOADER), values or {})
        self.root = {'Values': merged, 'Release': {'Name': release, 'Namespace': namespace}, 'Chart': chart,
                     'Template': {'BasePath': chart['name'] + '/templates'}, 'Files': self}
        for name in sorted(os.listdir(os.path.join(folder, 'templates'))):
            nodes = parse(split_source(read(folder + '/templates/' + name)), self.definitions)[0]
            self.definitions[chart['name'] + '/templates/' + name] = nodes
            self.files[name] = nodes

    def render(self):
        """Names of templates, and their texts."""
        return {name: self.run(nodes, self.root, {'$': self.root}) for name, nodes in self.files.items() if not name.startswith('_')}

    def objects(self):
        found = []
        for name, text in self.render().items():
            if name.endswith('.yaml'):
                found += [one for one in yaml.load_all(text, LOADER) if one]
        return found

    def run(self, nodes, dot, variables):
        return ''.join(self.run_one(node, dot, dict(variables)) for node in nodes)

    def run_one(self, node, dot, variables):
        kind = node[0]
        if kind == 'text':
            return node[1]
        if kind == 'value':
            return shown(self.evaluate(node[1], dot, variables))
        if kind == 'range':
            return self.run_range(node, dot, variables)
        value = self.evaluate(node[1], dot, variables)
        body = node[2] if value else node[3]
        return self.run(body, value if kind == 'with' and value else dot, variables)

    def run_range(self, node, dot, variables):
        names, expression = [], node[1]
        if ':=' in expression:
            left, expression = expression.split(':=')
            names = [name.strip() for name in left.split(',')]
        value = self.evaluate(expression, dot, variables) or []
        items = sorted(value.items()) if isinstance(value, dict) else list(enumerate(value))
        out = ''
        for key, item in items:
            inner = dict(variables)
            for name, each in zip(names, (key, item) if len(names) == 2 else (item,)):
                inner[name] = each
            out += self.run(node[2], item, inner)
        return out if items else self.run(node[3], dot, variables)

    def evaluate(self, text, dot, variables):
        tokens = tokens_of(text)
        value, at = self.pipeline(tokens, 0, dot, variables)
        if at != len(tokens):
            raise Wrong('cannot read the action: ' + text)
        return value

    def pipeline(self, tokens, at, dot, variables):
        value, at = self.command(tokens, at, dot, variables, [])
        while at < len(tokens) and tokens[at] == '|':
            value, at = self.command(tokens, at + 1, dot, variables, [value])
        return value, at

    def command(self, tokens, at, dot, variables, piped):
        words = []
        while at < len(tokens) and tokens[at] not in ('|', ')'):
            word, at = self.operand(tokens, at, dot, variables, not words)
            words.append(word)
        head = words[0]
        if callable(head):
            return head(dot, *words[1:], *piped), at
        if len(words) + len(piped) != 1:
            raise Wrong('%s is no function' % tokens[0])
        return head, at

    def operand(self, tokens, at, dot, variables, first):
        token = tokens[at]
        if token == '(':
            value, at = self.pipeline(tokens, at + 1, dot, variables)
            return value, at + 1
        if token[0] == '"':
            return token[1:-1].replace('\\"', '"').replace('\\n', '\n'), at + 1
        if re.fullmatch(r'-?\d+', token):
            return int(token), at + 1
        if token[0] in '.$':
            return self.path(token, dot, variables, first), at + 1
        if first and hasattr(self, 'do_' + token):
            return getattr(self, 'do_' + token), at + 1
        raise Wrong('there is no function %s' % token)

    def path(self, token, dot, variables, first):
        names = token.split('.')
        if names[0]:
            if names[0] not in variables:
                raise Wrong('there is no variable %s' % names[0])
            value = variables[names[0]]
        else:
            value = dot
        for name in [one for one in names[1:] if one]:
            if value is self and name == 'Get' and first:
                return lambda _dot, path: read(self.folder + '/' + path)
            if not isinstance(value, dict):
                raise Wrong('%s: nothing has a member %s' % (token, name))
            if name not in value and value is self.root['Values']:
                raise Wrong('there is no value %s' % token)
            value = value.get(name)
        return value

    # The functions; the first argument is the dot.
    def do_include(self, _dot, name, context):
        if name not in self.definitions:
            raise Wrong('there is no template ' + name)
        return self.run(self.definitions[name], context, {'$': context})

    def do_toYaml(self, _dot, value):
        return to_yaml(value)

    def do_nindent(self, _dot, count, text):
        return '\n' + '\n'.join(' ' * count + line for line in text.split('\n'))

    def do_default(self, _dot, fallback, value):
        return value or fallback

    def do_printf(self, _dot, form, *values):
        return form % values

    def do_print(self, _dot, *values):
        return ''.join(shown(value) for value in values)

    def do_int(self, _dot, value):
        return int(value)

    def do_gt(self, _dot, left, right):
        return left > right

    def do_add(self, _dot, *values):
        return sum(values)

    def do_until(self, _dot, count):
        return list(range(count))

    def do_hasPrefix(self, _dot, prefix, text):
        return text.startswith(prefix)

    def do_sha256sum(self, _dot, text):
        return hashlib.sha256(text.encode()).hexdigest()


def merge(base, more):
    """As Helm does: maps member by member, anything else in whole."""
    if not (isinstance(base, dict) and isinstance(more, dict)):
        return more
    return {key: merge(base[key], more[key]) if key in base and key in more else more.get(key, base.get(key)) for key in {**base, **more}}
