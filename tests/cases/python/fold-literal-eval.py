import ast
import os
getattr(os, ast.literal_eval("'system'"))('id')
# expect 3 py.internals
