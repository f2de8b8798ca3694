import ast
tree = ast.parse('a + 1', mode='eval')
class V(ast.NodeVisitor):
    def visit_Name(self, node):
        print(node.id)
        self.generic_visit(node)
V().visit(tree)
print(ast.literal_eval('[1, 2]'), ast.dump(tree) != '')
