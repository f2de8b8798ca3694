def f(a): return [v for v in f(a)]
" ".join(f(1))
