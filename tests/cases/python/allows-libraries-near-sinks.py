import asyncio
import dataclasses
import fileinput
import gzip
import optparse
import platform
import tracemalloc
import typing
import uuid
from importlib.metadata import entry_points, version
from unittest import mock
import click
import flask
import gensim
import graphviz
import jinja2
import joblib
import matplotlib
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
import patsy
import pydantic
import pytest
import sklearn.utils
import statsmodels.formula.api as smf
import sympy
import torch
import tornado.web
import yaml
from PIL import Image
from tqdm import tqdm


@dataclasses.dataclass
class Node:
    children: 'typing.List[Node]' = dataclasses.field(default_factory=list)


class Model(pydantic.BaseModel):
    name: str


@click.command()
@click.option('--n', default=1)
def command(n):
    click.echo(n)


@pytest.fixture
def one():
    return 1


app = flask.Flask(__name__)


@app.route('/')
def index():
    return jinja2.Template('{{ a }}').render(a=1)


def test_index(one):
    assert app.test_client().get('/').status_code == 200
    with mock.patch('json.dumps') as dumps:
        assert dumps.call_count == 0


class Handler(tornado.web.RequestHandler):
    def get(self):
        self.write('a')


application = tornado.web.Application([('/', Handler)])
typing.get_type_hints(Node)
ref = typing.ForwardRef('Node')
parser = optparse.OptionParser()
options, rest = parser.parse_args([])
print(uuid.uuid4(), platform.system(), version('numpy'), len(entry_points()))
tracemalloc.start()
matplotlib.use('Agg')
plt.switch_backend('agg')
plt.plot([1, 2])
plt.savefig('a.png')
Image.open('a.png').show()
a = np.load('a.npy')
b = np.load('b.npz')['x']
df = pd.read_csv('a.csv')
df.to_pickle('a.pkl')
y, x = patsy.dmatrices('y ~ x', df)
smf.ols('y ~ x', df).fit().summary()
f = sympy.lambdify(sympy.Symbol('x'), sympy.sympify('x**2'))
graph = nx.karate_club_graph()
nx.draw(graph)
g = graphviz.Digraph('g')
g.edge('a', 'b')
print(g.source)
joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(i) for i in tqdm(range(3)))
joblib.dump(a, 'a.joblib')
model = gensim.models.Word2Vec([['a']], min_count=1)
model.save('a.model')
torch.save(torch.nn.Linear(1, 1).state_dict(), 'a.pt')
yaml.safe_load('a: 1')
sklearn.utils.shuffle([1, 2])
for line in fileinput.input(['a.txt'], openhook=fileinput.hook_compressed):
    print(line)
with gzip.open('a.gz', 'wt') as out:
    out.write('a')


async def main():
    await asyncio.gather(asyncio.sleep(0), asyncio.sleep(0))


asyncio.run(main())
