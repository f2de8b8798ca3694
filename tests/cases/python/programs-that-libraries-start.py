import sys
setattr(sys, 'executable', './x')
import pytesseract as p
p.pytesseract.tesseract_cmd = 'x/y'
import networkx as nx
nx.drawing.nx_pydot.graphviz_layout(g, prog='./evil')
# expect 2 any.steer
# expect 4 any.steer
# expect 6 any.steer
