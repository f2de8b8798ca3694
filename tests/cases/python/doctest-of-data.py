import doctest
doctest.run_docstring_examples(open('x').read(), {})
import doctest
t = doctest.DocTestParser().get_doctest(open('x').read(), {}, 'n', 'f', 0)
doctest.DebugRunner().run(t)
import doctest
doctest.DocTestCase(doctest.DocTestParser().get_doctest(input(), {}, 'n', 'f', 0)).runTest()
# expect 2 py.dynamic-code
# expect 5 py.dynamic-code
# expect 7 py.dynamic-code
