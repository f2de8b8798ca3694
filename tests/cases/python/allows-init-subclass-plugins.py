class Plugin:
    plugins = []
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.plugins.append(cls)
class A(Plugin):
    def run(self):
        return 'a'
print([p().run() for p in Plugin.plugins])
