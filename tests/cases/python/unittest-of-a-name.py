import unittest
unittest.main(module=input())
import unittest
unittest.TestLoader().discover('.')
# expect 2 py.dynamic-code
# expect 4 py.dynamic-code
