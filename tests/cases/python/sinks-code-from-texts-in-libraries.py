import optparse
import dataclasses
import typing
import decorator
import pygments.lexers
from attr._make import _compile_and_eval
from scipy._lib.decorator import FunctionMaker
from sqlalchemy.util.langhelpers import _exec_code_in_env
from ply import lex
from tornado.options import parse_config_file
text = input()
optparse.Values().read_file('x.py')
dataclasses._create_fn('f', ['a'], [text])
typing.ForwardRef(text)._evaluate({}, {}, frozenset())
typing._eval_type(typing.List[text], {}, {})
decorator.FunctionMaker.create('f()', text, {})
pygments.lexers.load_lexer_from_file('x.py')
_compile_and_eval(text, {})
FunctionMaker.create('f()', text, {})
_exec_code_in_env(text, {}, 'f')
lex.Lexer().readtab(text, {})
parse_config_file('x.py')
# expect 6 py.dynamic-code
# expect 7 py.dynamic-code
# expect 8 py.dynamic-code
# expect 10 py.dynamic-code
# expect 12 py.dynamic-code
# expect 13 py.dynamic-code
# expect 14 py.dynamic-code
# expect 15 py.dynamic-code
# expect 15 py.library-code
# expect 16 py.dynamic-code
# expect 17 py.dynamic-code
# expect 18 py.dynamic-code
# expect 19 py.dynamic-code
# expect 20 py.dynamic-code
# expect 21 py.dynamic-code
# expect 22 py.dynamic-code
# expect 14 py.library-code
