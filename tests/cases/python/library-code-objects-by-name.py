# Libraries import the objects that these texts name.
import jinja2
import markdown
from pydantic.v1 import BaseModel, PyObject
from sqlalchemy.dialects import registry

markdown.markdown("x", extensions=["tables", "subprocess:getoutput"])
markdown.Markdown(extensions=["os:abort"])
markdown.Markdown().registerExtensions(["os:abort"], {})
markdown.markdown("x", extensions=open("extensions.txt").read().split())
jinja2.Environment(extensions=["jinja2.ext.do", "os.abort"])


class Model(BaseModel):
    f: PyObject


registry.register("x", "os", "abort")
# expect 4 py.dynamic-code
# expect 5 py.dynamic-code
# expect 7 py.process
# expect 8 py.process
# expect 9 py.process
# expect 10 py.library-code
# expect 11 py.process
# expect 15 py.dynamic-code
# expect 18 py.dynamic-code
