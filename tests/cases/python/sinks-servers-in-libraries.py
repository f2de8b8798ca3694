import asyncio
import flask
import tornado.web
from dash import Dash
from quart import Quart
app = flask.Flask('a')
app.run(port=80)
Dash('a').run(debug=True)
Quart('a').run()
tornado.web.Application([]).listen(8000)
async def main(loop):
    await loop.create_unix_connection(P, 'a')
    await asyncio.get_running_loop().create_unix_server(P, 'a')
# expect 7 py.socket
# expect 8 py.socket
# expect 9 py.socket
# expect 10 py.socket
# expect 12 py.socket
# expect 13 py.socket
