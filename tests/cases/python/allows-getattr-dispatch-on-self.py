class Visitor:
    def visit(self, node):
        return getattr(self, 'visit_' + type(node).__name__, self.generic)(node)
    def generic(self, node):
        return str(node)
    def visit_int(self, node):
        return node + 1
print(Visitor().visit(1), Visitor().visit('a'))
