# SPDX-License-Identifier: MIT
# Uses each library of the Python image as programs of agents do. Prints "ok NAME" or "FAILED NAME:
# why".
import io
import json
import warnings

warnings.simplefilter('ignore')
uses = []


def use(function):
    uses.append(function)
    return function


@use
def pandas_and_lxml():  # first: pandas loads lxml by its name, and native code of lxml imports modules
    import pandas as pd
    pd.DataFrame({'a': [1]}).to_xml('frame.xml')
    return pd.read_xml('frame.xml').a[0] == 1


@use
def attrs():
    import attr

    @attr.define
    class Point:
        x: int = 1

    return attr.asdict(Point(2)) == {'x': 2}


@use
def beautifulsoup4():
    from bs4 import BeautifulSoup
    page = '<table><tr><td>a</td><td>b</td></tr></table><a href="/x">link</a>'
    return all(BeautifulSoup(page, parser).find('a')['href'] == '/x' for parser in ('html.parser', 'lxml', 'html5lib'))


@use
def chardet():
    import chardet
    return chardet.detect('Grüße aus Köln, schöne Tage'.encode('utf-8'))['encoding'] == 'utf-8'


@use
def dateutil():
    from dateutil import parser, relativedelta
    return (parser.parse('3 Feb 2026') + relativedelta.relativedelta(months=1)).month == 3


@use
def html5lib():
    import html5lib
    return html5lib.parse('<p>a', namespaceHTMLElements=False).find('body/p').text == 'a'


@use
def jinja2():
    import jinja2
    environment = jinja2.Environment(autoescape=True)
    return environment.from_string('{% for x in items %}<{{ x }}>{% endfor %}').render(items=['a', '<']) == '<a><&lt;>'


@use
def jsonschema():
    import jsonschema
    try:
        jsonschema.validate({'a': 'x'}, {'type': 'object', 'properties': {'a': {'type': 'number'}}})
    except jsonschema.ValidationError as error:
        return 'is not of type' in error.message


@use
def lxml():
    from lxml import etree, html
    tree = etree.fromstring('<r><a n="1"/><a n="2"/></r>')
    return tree.xpath('//a/@n') == ['1', '2'] and len(html.fromstring('<p class="x">a').cssselect('.x')) == 1 and b'<a' in etree.tostring(tree, pretty_print=True)


@use
def markdown():
    import markdown
    return '<strong>b</strong>' in markdown.markdown('a **b**\n\n| x |\n|---|\n| 1 |', extensions=['tables'])


@use
def matplotlib():
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots()
    axes.plot([1, 2, 3], label='$x^2$')
    axes.legend()
    sizes = []
    for kind in ('png', 'svg', 'pdf'):
        figure.savefig(f'plot.{kind}')
        with open(f'plot.{kind}', 'rb') as file:
            sizes.append(len(file.read()))
    plt.close(figure)
    return min(sizes) > 1000


@use
def networkx():
    import networkx as nx
    graph = nx.path_graph(5)
    return nx.shortest_path(graph, 0, 4) == [0, 1, 2, 3, 4] and len(nx.spring_layout(graph, seed=1)) == 5 and max(nx.pagerank(graph).values()) < 1


@use
def openpyxl():
    import openpyxl
    book = openpyxl.Workbook()
    book.active.append(['name', 'n'])
    book.active.append(['a', 1])
    book.save('book.xlsx')
    import pandas as pd
    frame = pd.read_excel('book.xlsx')
    frame.to_excel('copy.xlsx', index=False)
    return openpyxl.load_workbook('copy.xlsx').active['B2'].value == 1


@use
def pandas():
    import pandas as pd
    frame = pd.DataFrame({'g': ['a', 'b', 'a'], 'v': [1, 2, 3]})
    frame.to_csv('frame.csv', index=False)
    grouped = pd.read_csv('frame.csv').groupby('g').v.sum()
    return grouped['a'] == 4 and '<table' in frame.to_html() and '<td' in frame.style.highlight_max().to_html() \
        and pd.read_html(io.StringIO(frame.to_html()))[0].shape[0] == 3 and '|' in frame.to_markdown()


@use
def pillow():
    from PIL import Image, ImageDraw, ImageFilter
    image = Image.new('RGB', (40, 30), 'red')
    ImageDraw.Draw(image).text((2, 2), 'a')
    image.filter(ImageFilter.BLUR).resize((20, 15)).save('image.jpg')
    return Image.open('image.jpg').size == (20, 15)


@use
def pydantic():
    from pydantic import BaseModel, ValidationError

    class User(BaseModel):
        name: str
        age: int = 1

    try:
        User(name='a', age='x')
    except ValidationError:
        return json.loads(User(name='a', age='3').model_dump_json()) == {'name': 'a', 'age': 3}


@use
def pypdf():
    from reportlab.pdfgen import canvas
    page = canvas.Canvas('source.pdf')
    page.drawString(100, 700, 'Hello')
    page.save()
    import pypdf
    reader = pypdf.PdfReader('source.pdf')
    writer = pypdf.PdfWriter()
    writer.add_page(reader.pages[0])
    with open('written.pdf', 'wb') as file:
        writer.write(file)
    return 'Hello' in pypdf.PdfReader('written.pdf').pages[0].extract_text()


@use
def pytest():
    import pytest  # pytest.main() loads files that were not judged, so policies deny it
    with pytest.raises(ZeroDivisionError, match='division'):
        1 / 0
    return 0.1 + 0.2 == pytest.approx(0.3)


@use
def python_docx():
    import docx
    document = docx.Document()
    document.add_heading('Title')
    document.add_paragraph('Text')
    document.save('text.docx')
    return [each.text for each in docx.Document('text.docx').paragraphs] == ['Title', 'Text']


@use
def pytz():
    import datetime
    import zoneinfo
    import pytz
    noon = datetime.datetime(2026, 7, 1, 12)
    return pytz.timezone('Europe/Berlin').localize(noon).utcoffset().seconds == 7200 and noon.replace(tzinfo=zoneinfo.ZoneInfo('America/New_York')).tzname() == 'EDT'


@use
def pyyaml():
    import yaml
    return yaml.safe_load('a: [1, 2]') == {'a': [1, 2]} and yaml.safe_dump({'a': 1}) == 'a: 1\n'


@use
def regex():
    import regex
    return regex.findall(r'\p{Lu}', 'aBÉ') == ['B', 'É']


@use
def reportlab():
    from reportlab.graphics.charts.barcharts import VerticalBarChart
    from reportlab.graphics.shapes import Drawing
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Table
    drawing, chart = Drawing(200, 100), VerticalBarChart()
    chart.data = [(1, 2)]
    drawing.add(chart)
    SimpleDocTemplate('report.pdf').build([Paragraph('Report', getSampleStyleSheet()['Title']), Table([['a', 1], ['b', 2]]), drawing])
    with open('report.pdf', 'rb') as file:
        return file.read(5) == b'%PDF-'


@use
def requests():
    import requests
    try:
        requests.get('http://example.org', timeout=2)
    except requests.ConnectionError:
        return True


@use
def rich():
    from rich.console import Console
    from rich.table import Table
    table = Table('name')
    table.add_row('a')
    text = io.StringIO()
    Console(file=text, width=40).print(table)
    return 'name' in text.getvalue()


@use
def scikit_learn():
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import cross_val_score, train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    x, y = load_iris(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x, y, random_state=0)
    model = make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=20, n_jobs=2, random_state=0)).fit(x_train, y_train)
    return model.score(x_test, y_test) > 0.8 and cross_val_score(model, x, y, cv=3, n_jobs=2).mean() > 0.8


@use
def scipy():
    import numpy as np
    from scipy import integrate, optimize, signal, stats
    return abs(integrate.quad(np.sin, 0, np.pi)[0] - 2) < 1e-9 and abs(optimize.minimize(lambda x: (x - 3) ** 2, 0).x[0] - 3) < 1e-3 \
        and stats.ttest_ind([1, 2, 3], [2, 3, 4]).pvalue < 1 and len(signal.find_peaks([0, 1, 0])[0]) == 1


@use
def seaborn():
    import pandas as pd
    import seaborn as sns
    import matplotlib.pyplot as plt
    frame = pd.DataFrame({'x': [1, 2, 3, 4], 'y': [2, 4, 5, 9], 'g': list('aabb')})
    sns.set_theme()
    sns.regplot(data=frame, x='x', y='y')
    sns.pairplot(frame, hue='g').savefig('pairs.png')
    plt.close('all')
    return True


@use
def sqlalchemy():
    import sqlalchemy as sa
    from sqlalchemy.orm import Session, declarative_base
    Base = declarative_base()

    class Item(Base):
        __tablename__ = 'items'
        id = sa.Column(sa.Integer, primary_key=True)
        name = sa.Column(sa.String)

    engine = sa.create_engine('sqlite:///items.db')
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add(Item(name='a'))
        session.commit()
        return session.execute(sa.select(Item.name)).scalars().all() == ['a']


@use
def statsmodels():
    import numpy as np
    import pandas as pd
    import statsmodels.api as sm
    import statsmodels.formula.api as smf
    frame = pd.DataFrame({'x': np.arange(20.0), 'y': 3 * np.arange(20.0) + 1})
    fit = smf.ols('y ~ x', data=frame).fit()
    return abs(fit.params['x'] - 3) < 1e-6 and 'OLS' in str(fit.summary()) and sm.add_constant(frame.x).shape == (20, 2)


@use
def sympy():
    import sympy
    x = sympy.symbols('x')
    f = sympy.lambdify(x, sympy.sin(x) ** 2, 'numpy')
    return sympy.integrate(sympy.exp(-x ** 2), (x, -sympy.oo, sympy.oo)) == sympy.sqrt(sympy.pi) and sympy.solve(x ** 2 - 4) == [-2, 2] \
        and 'frac' in sympy.latex(1 / x) and f(0) == 0


@use
def tabulate():
    from tabulate import tabulate
    return '---' in tabulate([['a', 1]], headers=['n', 'v'])


@use
def tqdm():
    from tqdm import tqdm
    return sum(tqdm(range(3), disable=False)) == 3


@use
def xlrd():
    import xlrd
    return xlrd.XL_CELL_TEXT == 1


@use
def xlsxwriter():
    import xlsxwriter
    book = xlsxwriter.Workbook('written.xlsx')
    sheet = book.add_worksheet()
    sheet.write(0, 0, 'a')
    chart = book.add_chart({'type': 'line'})
    chart.add_series({'values': '=Sheet1!$A$1:$A$1'})
    sheet.insert_chart('C1', chart)
    book.close()
    import openpyxl
    return openpyxl.load_workbook('written.xlsx').active['A1'].value == 'a'


@use
def altair():
    import altair as alt
    import pandas as pd
    chart = alt.Chart(pd.DataFrame({'x': [1, 2], 'y': [3, 4]})).mark_line().encode(x='x', y='y')
    return chart.to_dict()['mark']['type'] == 'line'


@use
def folium():
    import folium
    page = folium.Map(location=[52.5, 13.4], zoom_start=10)
    folium.Marker([52.5, 13.4], popup='here').add_to(page)
    return 'L.map' in page.get_root().render()


@use
def fonts():  # fonts for Chinese, Japanese, Korean and emoji, also under names that programs of other systems use
    import matplotlib.pyplot as plt
    warnings.simplefilter('error')
    try:
        for names in (None, ['SimHei'], ['Arial Unicode MS'], ['Arial']):
            with plt.rc_context({'font.sans-serif': names} if names else {}):
                figure, axes = plt.subplots()
                axes.set_title('表 グラフ 그래프 \N{ROCKET} \N{BRAIN} Grüße')
                figure.savefig('fonts.png')
                plt.close(figure)
    finally:
        warnings.simplefilter('ignore')
    return True


@use
def fpdf2():
    from fpdf import FPDF
    document = FPDF()
    document.add_page()
    document.set_font('helvetica', size=12)
    document.cell(text='Hello fpdf')
    document.output('fpdf.pdf')
    from pdfminer.high_level import extract_text
    return 'Hello fpdf' in extract_text('fpdf.pdf')


@use
def geopandas():
    import geopandas as gpd
    from shapely.geometry import Point
    frame = gpd.GeoDataFrame({'n': [1, 2]}, geometry=[Point(13.4, 52.5), Point(2.35, 48.9)], crs='EPSG:4326')
    frame.to_file('places.geojson', driver='GeoJSON')
    return gpd.read_file('places.geojson').to_crs(3857).distance(Point(0, 0)).min() > 1e6


@use
def h5py():
    import h5py
    with h5py.File('a.h5', 'w') as file:
        file.create_dataset('x', data=[1, 2, 3], compression='gzip')
    with h5py.File('a.h5') as file:
        return file['x'][:].sum() == 6


@use
def httpx():
    import httpx
    try:
        httpx.get('http://example.org', timeout=2)
    except httpx.ConnectError:
        return True


@use
def nltk():
    import nltk
    from nltk.stem import PorterStemmer
    return PorterStemmer().stem('running') == 'run' and nltk.FreqDist('aab')['a'] == 2 and nltk.edit_distance('kitten', 'sitting') == 3


@use
def numexpr():
    import numexpr
    import numpy as np
    a = np.arange(1000)
    return (numexpr.evaluate('2 * a + 1') == 2 * a + 1).all()


@use
def odfpy():
    import pandas as pd
    pd.DataFrame({'a': [1, 2]}).to_excel('table.ods', index=False)
    return pd.read_excel('table.ods').a.sum() == 3


@use
def opencv():
    import cv2
    import numpy as np
    picture = np.zeros((60, 80, 3), np.uint8)
    cv2.circle(picture, (40, 30), 20, (0, 0, 255), -1)
    cv2.imwrite('circle.png', picture)
    gray = cv2.cvtColor(cv2.imread('circle.png'), cv2.COLOR_BGR2GRAY)
    contours, _ = cv2.findContours(cv2.Canny(gray, 10, 50), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    return len(contours) == 1 and cv2.GaussianBlur(gray, (5, 5), 0).shape == (60, 80)


@use
def pandas_query():
    import pandas as pd
    frame = pd.DataFrame({'a': range(20), 'b': list('xyzxy') * 4})
    limit, wanted, settings = 10, ['x', 'z'], {'limit': 10}
    assert len(frame.query("a > @settings['limit']", engine='python')) == 9
    return len(frame.query('a > @limit')) == 9 and len(frame.query('a > @limit and b in @wanted')) == 5 and frame.eval('a * @limit').sum() == 1900


@use
def rich_log():
    import io
    from rich.console import Console
    text = io.StringIO()
    Console(file=text, width=80).log('done', {'a': 1})
    return 'done' in text.getvalue()


@use
def opencv_windows():
    import cv2
    import numpy as np
    cv2.namedWindow('video', cv2.WINDOW_NORMAL)
    for key in ord('q'), 27:  # loops that wait for either key end
        for count in range(20):
            cv2.imshow('video', np.full((20, 20), count / 20))
            if cv2.waitKey(1) & 0xFF == key:
                break
        else:
            return False
    cv2.imshow('deep', np.full((20, 20), 40000, np.uint16))
    cv2.destroyAllWindows()
    return cv2.getWindowProperty('none', cv2.WND_PROP_VISIBLE) < 0


@use
def plotly():
    import plotly.express as px
    import plotly.graph_objects as go
    figure = px.scatter(x=[1, 2], y=[3, 4])
    figure.add_trace(go.Scatter(x=[1], y=[2]))
    figure.write_html('figure.html', include_plotlyjs='cdn')
    with open('figure.html') as file:
        return 'Plotly.newPlot' in file.read()


@use
def scikit_image():
    import numpy as np
    from skimage import filters, measure, transform
    picture = np.zeros((50, 50))
    picture[10:20, 10:20] = 1
    return measure.label(picture > filters.threshold_otsu(picture)).max() == 1 and transform.resize(picture, (25, 25)).shape == (25, 25)


@use
def xarray():
    import numpy as np
    import xarray as xr
    data = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=('x', 'y'), coords={'x': [10, 20]}, name='t')
    data.to_netcdf('data.nc', engine='netcdf4')
    return float(xr.open_dataset('data.nc', engine='netcdf4').t.sel(x=20).mean()) == 4.0


@use
def locales():
    import locale
    for name in ('de_DE.UTF-8', 'fr_FR.UTF-8', 'ja_JP.UTF-8', 'zh_CN.UTF-8', 'en_US.UTF-8'):
        locale.setlocale(locale.LC_ALL, name)
    locale.setlocale(locale.LC_ALL, 'de_DE.UTF-8')
    text = locale.format_string('%.2f', 1234.5, grouping=True)
    locale.setlocale(locale.LC_ALL, 'C.UTF-8')
    return text == '1.234,50'


# Code in the style of current programs: each needs a recent library or Python.

@use
def pandas_of_today():
    import pandas as pd
    days = pd.Series(range(60), index=pd.date_range('2026-01-01', periods=60))
    frame = pd.DataFrame({'a': [1, 1], 'b': [2, 3], 'c': ['x', 'y']})
    return list(days.resample('ME').sum()) == [465, 1246, 59] and len(pd.date_range('2026-01-01', periods=3, freq='QE')) == 3 \
        and len(pd.date_range('2026-01-01', periods=3, freq='h')) == 3 \
        and frame.groupby('a').apply(lambda g: g.b.sum(), include_groups=False)[1] == 5 \
        and list(pd.Series([1, 2]).case_when([(pd.Series([True, False]), 9)])) == [9, 2] and frame.map(str).b[0] == '2' \
        and frame.groupby('c').mean(numeric_only=True).shape == (2, 2)


@use
def numpy_of_today():
    import numpy as np
    from numpy.exceptions import AxisError
    from scipy.integrate import simpson
    return issubclass(AxisError, ValueError) and np.trapezoid([1, 2, 3]) == 4 and np.concat([np.ones(1), np.ones(1)]).shape == (2,) \
        and np.matrix_transpose(np.ones((2, 3))).shape == (3, 2) and np.astype(np.ones(2), int).dtype == int and simpson([1, 2, 3], x=[0, 1, 2]) == 4


@use
def scikit_learn_of_today():
    from sklearn.preprocessing import OneHotEncoder, TargetEncoder
    from sklearn.metrics import root_mean_squared_error
    OneHotEncoder(sparse_output=False).set_output(transform='pandas')
    return TargetEncoder is not None and root_mean_squared_error([1.0, 2.0], [1.0, 2.0]) == 0


@use
def plots_of_today():
    import matplotlib.pyplot as plt
    import seaborn as sns
    figure, axes = plt.subplots(layout='constrained')
    axes.boxplot([[1, 2]], tick_labels=['a'])
    axes.bar_label(axes.bar(['a'], [1]))
    sns.barplot(x=['a', 'b'], y=[1, 2], errorbar=None, width=0.5, gap=0.1, ax=axes)
    plt.close(figure)
    return True


@use
def pydantic_and_sqlalchemy_of_today():
    from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator, model_validator
    from sqlalchemy import String, create_engine, select
    from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

    class User(BaseModel):
        model_config = ConfigDict(extra='forbid')
        name: str = Field(min_length=1)

        @field_validator('name')
        @classmethod
        def strip(cls, value: str) -> str:
            return value.strip()

        @model_validator(mode='after')
        def check(self):
            return self

    class Base(DeclarativeBase):
        pass

    class Row(Base):
        __tablename__ = 'rows'
        id: Mapped[int] = mapped_column(primary_key=True)
        name: Mapped[str] = mapped_column(String(10))

    engine = create_engine('sqlite://')
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add(Row(name='a'))
        session.flush()
        names = session.scalars(select(Row.name)).all()
    return names == ['a'] and User(name=' a ').model_dump() == {'name': 'a'} and TypeAdapter(list[int]).validate_python(['1']) == [1]


@use
def python_of_today():
    import itertools
    import tomllib
    from pathlib import Path
    from typing import override

    class Box[T = int]:
        def get(self) -> T | None:
            return None

    class Other(Box[str]):
        @override
        def get(self):
            return 'a'

    type Pair[A] = tuple[A, A]
    words = {'a': [1, 2]}
    return list(itertools.batched('abc', 2)) == [('a', 'b'), ('c',)] and tomllib.loads('a = 1') == {'a': 1} and Other().get() == 'a' \
        and f"{', '.join(str(n) for n in words["a"])}" == '1, 2' and isinstance(list(Path('.').walk()), list) and Pair.__name__ == 'Pair'


for function in uses:
    try:
        good = function()
        print('ok' if good else 'FAILED', function.__name__, '' if good else ': another answer')
    except Exception as error:
        print('FAILED', function.__name__, ':', type(error).__name__, error)
