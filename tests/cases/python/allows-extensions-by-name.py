# Extensions that the libraries bring.
import jinja2
import markdown

names = ["toc", "markdown.extensions.fenced_code", "markdown.extensions.toc:TocExtension"]
print(markdown.markdown("# a", extensions=names, extension_configs={"toc": {"permalink": True}}))
print(markdown.Markdown(extensions=["extra", "meta"]).convert("a"))
env = jinja2.Environment(extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"], autoescape=True)
env.add_extension("jinja2.ext.i18n")
print(env.from_string("{% do x.append(1) %}{{ x }}").render(x=[]))
