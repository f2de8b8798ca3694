import argparse
p = argparse.ArgumentParser(description='x')
p.add_argument('--n', type=int, default=3)
sub = p.add_subparsers(dest='command')
a = sub.add_parser('a')
a.set_defaults(func=lambda args: args.n)
args = p.parse_args(['a'])
print(args.func(args))
