def run(command):
    match command.split():
        case ['open', name] | ['eval', name]:
            return name
        case ['exec' | 'system']:
            return 'no'
        case _:
            return '?'
print(run('open x'), run('exec'), run('eval 1'))
