import typing

import attr
import patsy

text = open("types.txt").read()
first = typing.Optional[text]
second = typing.Dict[str, text]
field = attr.ib(type=text)
environment = patsy.EvalEnvironment([{}])
environment.eval(text)
# expect 7 py.library-code
# expect 8 py.library-code
# expect 9 py.library-code
# expect 11 py.library-code
