class Menu:
    def do_open(self):
        return 'opened'
    def do_quit(self):
        return 'bye'
    def run(self, name):
        method = getattr(self, f'do_{name}', None)
        return method() if method else None
print(Menu().run('open'), Menu().run('nothing'))
