import statsmodels.formula.api as smf, sympy, queue, threading
def a(f): return smf.ols(f, d)
a('y ~ x')
a(open('q').read())
def b(f): return smf.ols(f, d)
list(map(b, open('q')))
def c(f): return smf.ols(f, d)
threading.Thread(target=c, args=(open('q').read(),)).start()
def e(*f): return smf.ols(*f)
e(open('q').read())
class K:
    def m(self, f): return sympy.parse_expr(f)
    def n(self, f): return sympy.parse_expr(f)
K().m(open('q').read())
getattr(K(), 'n')(open('q').read())
def g(f='x'): return sympy.sympify(f)
g(q.get())
terms = ['x', 'y']
al = terms
al.append(open('q').read())
smf.ols('y ~ ' + ' + '.join(terms), d)
t2 = ['x']
t2 += [input()]
smf.ols('y ~ ' + ' + '.join(t2), d)
t3 = ['x']
t3[0] = input()
smf.ols('y ~ ' + ' + '.join(t3), d)
t4 = ['x']
def h(l): l.append(input())
h(t4)
smf.ols('y ~ ' + ' + '.join(t4), d)
for i in range(3):
    t5 = 'y ~ x'
    t5 = t5 + input()
smf.ols(t5, d)
# expect 2 py.library-code
# expect 5 py.library-code
# expect 7 py.library-code
# expect 9 py.library-code
# expect 12 py.library-code
# expect 13 py.library-code
# expect 16 py.library-code
# expect 21 py.library-code
# expect 24 py.library-code
# expect 27 py.library-code
# expect 31 py.library-code
# expect 35 py.library-code
