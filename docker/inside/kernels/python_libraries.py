# SPDX-License-Identifier: MIT
"""Replacements for the desktop or notebook front end that libraries of the image expect. A program
continues as under a notebook server, and one line on stderr describes the difference.

Each row of `rows` is a module of the image, and the functions to call around its import. All
functions exist before a program runs, so the guard counts them as code of the image
(docker/inside/python_guard/codes.c).
"""
import builtins

__builtins__ = dict(vars(builtins))  # for the functions below: a program may replace a builtin

import binascii
import collections
import contextlib
import functools
import itertools
import os
import sys

FONT_LISTS = "/codebox/matplotlib", "/tmp/matplotlib"
FALLBACK_FONTS = "/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc", "/usr/share/fonts/truetype/noto/NotoEmoji-Regular.ttf"
INLINE = "module://matplotlib_inline.backend_inline"
# Functions of OpenCV about windows, that return nothing.
WINDOW_FUNCTIONS = (
    "namedWindow", "destroyWindow", "destroyAllWindows", "moveWindow", "resizeWindow", "setWindowTitle", "setWindowProperty",
    "startWindowThread", "setMouseCallback", "createTrackbar", "setTrackbarPos", "setTrackbarMax", "setTrackbarMin", "displayOverlay",
)
WINDOW_PICTURES_MAX = 8  # of a window: a program may show every picture of a video
open_fd, close_fd, chdir, fchdir = os.open, os.close, os.chdir, os.fchdir


class AroundImport:
    """A finder that calls functions before and after the import of one module. The import runs within
    a context."""

    def __init__(self, name, before=lambda: None, after=lambda module: None, within=contextlib.nullcontext):
        self._name, self._before, self._after, self._within = name, before, after, within

    def find_spec(self, name, path=None, target=None):
        if name != self._name:
            return None
        spec = sys.modules["_frozen_importlib_external"].PathFinder.find_spec(name, path)
        if spec is not None:
            exec_module = spec.loader.exec_module

            def and_then(module):
                self._before()
                with self._within():
                    exec_module(module)
                self._after(module)

            spec.loader.exec_module = and_then
        return spec


@contextlib.contextmanager
def in_read_only_folder():
    """Changes to the image's folder: matplotlib prefers the file `matplotlibrc` of the working folder
    to the files that the environment names."""
    here = open_fd(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        chdir("/codebox")
        yield
    finally:
        fchdir(here)
        close_fd(here)


def copy_font_list():
    """Copies the image's list of fonts to MPLCONFIGDIR, which must be writable. Without the list
    matplotlib reads every font."""
    try:
        os.makedirs(FONT_LISTS[1], exist_ok=True)
        for name in os.listdir(FONT_LISTS[0]):
            with open(f"{FONT_LISTS[0]}/{name}", "rb") as source, open(f"{FONT_LISTS[1]}/{name}", "xb") as target:
                target.write(source.read())
    except OSError:
        pass  # then matplotlib creates the list


def rows(kernel):
    """Returns the finders for sys.meta_path."""

    def after_font_manager(module):
        """Adds fallback fonts for Chinese, Japanese, Korean and emoji, whatever families a program or a
        style sets. A caller that passes one path, not a list, embeds this font file, so the call stays
        unchanged."""
        get_font = module.get_font

        @functools.wraps(get_font)
        def get_font_with_fallback(font_filepaths, *arguments, **options):
            if isinstance(font_filepaths, list):
                font_filepaths = [*font_filepaths, *(path for path in FALLBACK_FONTS if path not in font_filepaths)]
            return get_font(font_filepaths, *arguments, **options)

        module.get_font = get_font_with_fallback
        module._log.addFilter(lambda record: kernel.is_new(record.getMessage()))  # without the filter, matplotlib logs a line for each text of a figure

    def after_pyplot(pyplot):
        """Shows figures inline if the program selects a backend with windows. matplotlib.use calls the
        replaced function too."""
        switch = pyplot.switch_backend

        @functools.wraps(switch)
        def switch_backend(newbackend):
            try:
                return switch(newbackend)
            except ImportError:
                if newbackend == INLINE:
                    raise
                kernel.notice(f"there is no display for the backend {newbackend}; figures are shown by plt.show() and at the end of a cell")
                switch(INLINE)
                kernel.use_inline()

        pyplot.switch_backend = switch_backend

    def after_tqdm_notebook(module):
        """Replaces progress bars made of widgets by bars of text."""
        if module.IProgress is None:
            import tqdm.std

            module.tqdm = module.tqdm_notebook = tqdm.std.tqdm
            module.trange = module.tnrange = tqdm.std.trange
            kernel.notice("there are no widgets for tqdm.notebook; its bars are text")

    def after_asyncio_events(module):
        """Creates an event loop if the main thread has none. After asyncio.run() get_event_loop() fails
        in a thread, whereas a notebook always has an event loop."""
        policy = module.BaseDefaultEventLoopPolicy
        get_event_loop = policy.get_event_loop

        @functools.wraps(get_event_loop)
        def get_or_make_event_loop(self):
            try:
                return get_event_loop(self)
            except RuntimeError:
                if not kernel.channel.is_main_thread():
                    raise
                self.set_event_loop(self.new_event_loop())
                return get_event_loop(self)

        policy.get_event_loop = get_or_make_event_loop

    def after_plotly_renderers(module):
        """Shows plotly's figures as HTML of the result: the image has neither a browser nor nbformat."""

        def show(fig, renderer=None, validate=True, **options):
            import plotly.io

            text = plotly.io.to_html(fig, include_plotlyjs="cdn", full_html=False, validate=validate)
            kernel.display({"text/html": text, "text/plain": f"plotly figure with {len(fig['data'])} trace{'s' * (len(fig['data']) != 1)}"}, raw=True)

        module.show = show

    def after_cv2(cv2):
        """Shows the pictures of OpenCV's windows as results: without a display, the library's own
        functions end the process. A loop that waits for a key of the user ends: the keys are those
        that programs wait for, q and Escape in turn."""
        keys = itertools.cycle((ord("q"), 27))
        shown = collections.Counter()

        def imshow(winname, mat):
            shown[winname] += 1
            if shown[winname] > WINDOW_PICTURES_MAX:
                kernel.notice(f"of the window '{winname}', {WINDOW_PICTURES_MAX} pictures are shown")
                return
            if mat.dtype.kind == "f":
                mat = (mat * 255).clip(0, 255)
            elif mat.dtype.itemsize == 2:
                mat = mat / 256
            done, png = cv2.imencode(".png", mat.astype("uint8"))
            text = f"the window '{winname}': {mat.shape[1]} x {mat.shape[0]} pixels"
            kernel.display({"image/png": binascii.b2a_base64(png, newline=False).decode(), "text/plain": text}, raw=True)

        def wait_key(delay=0):
            kernel.notice("there is no keyboard: cv2.waitKey() returns q and Escape in turn, at once")
            return next(keys)

        def nothing(*arguments, **options):
            return None

        cv2.imshow, cv2.waitKey, cv2.waitKeyEx, cv2.pollKey = imshow, wait_key, wait_key, wait_key
        cv2.getTrackbarPos = lambda trackbarname, winname: 0
        cv2.getWindowProperty = lambda winname, prop_id: 1.0 if winname in shown else -1.0
        cv2.selectROI = lambda *arguments, **options: (0, 0, 0, 0)
        for name in WINDOW_FUNCTIONS:
            setattr(cv2, name, nothing)

    def after_rich_console(module):
        """Gives Console.log the place of its caller, and no frame: rich takes the function that returns
        frames as an argument, which a program may replace, so the guard refuses the call."""

        def caller_frame_info(self, offset, currentframe=None):
            frame = sys._getframe(offset + 1)
            return frame.f_code.co_filename, frame.f_lineno, {}

        module.Console._caller_frame_info = caller_frame_info

    return [
        AroundImport("cv2", after=after_cv2),
        AroundImport("matplotlib", within=in_read_only_folder),
        AroundImport("matplotlib.backend_bases", after=kernel.after_backend_bases),
        AroundImport("matplotlib.font_manager", before=copy_font_list, after=after_font_manager),
        AroundImport("matplotlib.pyplot", after=after_pyplot),
        AroundImport("tqdm.notebook", after=after_tqdm_notebook),
        AroundImport("asyncio.events", after=after_asyncio_events),
        AroundImport("plotly.io._renderers", after=after_plotly_renderers),
        AroundImport("rich.console", after=after_rich_console),
    ]


def format_warning(message, category, filename, lineno, line=None):
    """warnings.formatwarning. Omits the file and line of a warning in a library of the image, because
    a program cannot change that library."""
    if filename.startswith(("/usr/", "<frozen", "/codebox/")):
        return f"{category.__name__}: {message}\n"
    return f"{filename}:{lineno}: {category.__name__}: {message}\n"
