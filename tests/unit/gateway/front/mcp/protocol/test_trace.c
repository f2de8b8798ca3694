/* SPDX-License-Identifier: MIT
 * Frames of libraries in tracebacks. */
#include "gateway/front/mcp/protocol/trace.h"

#include "tests/unit/unit.h"

static void assert_folded(const char *text, const char *expected)
{
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 64 * 1024);
    cbx_trace_fold(cbx_str_of(text), &out);
    cbx_buf_add_char(&out, '\0');
    assert_string_equal(out.p, expected);
}

static void rows_of_library_frames_of_python_become_one_line(void **state)
{
    (void)state;
    assert_folded(
        "Traceback (most recent call last):\n"
        "  File \"/usr/lib/python3/dist-packages/pandas/core/indexes/base.py\", line 1, in "
        "get_loc\n"
        "    return self._engine.get_loc(key)\n"
        "           ~~~~~~~~~~~~~~~~~~~~^^^^^\n"
        "  File \"pandas/_libs/index.pyx\", line 167, in get_loc\n"
        "KeyError: 'b'\n"
        "\n"
        "The above exception was the direct cause of the following exception:\n"
        "\n"
        "Traceback (most recent call last):\n"
        "  File \"<cell-1>\", line 3, in <module>\n"
        "    df[\"b\"]\n"
        "    ~~^^^^^\n"
        "  File \"/usr/lib/python3/dist-packages/pandas/core/frame.py\", line 2, in __getitem__\n"
        "    indexer = self.columns.get_loc(key)\n"
        "KeyError: 'b'\n",
        "Traceback (most recent call last):\n"
        "  (2 frames of libraries)\n"
        "KeyError: 'b'\n"
        "\n"
        "The above exception was the direct cause of the following exception:\n"
        "\n"
        "Traceback (most recent call last):\n"
        "  File \"<cell-1>\", line 3, in <module>\n"
        "    df[\"b\"]\n"
        "    ~~^^^^^\n"
        "  (1 frame of libraries)\n"
        "KeyError: 'b'\n");
}

static void frames_of_node_become_one_line(void **state)
{
    (void)state;
    assert_folded("TypeError: a\n"
                  "    at f (cell-1.js:1:11)\n"
                  "    at node:internal/process:1:2\n"
                  "    at Object.g (/usr/lib/node_modules/zod/index.js:3:4)\n"
                  "    at async cell-1.js:2:1\n",
                  "TypeError: a\n"
                  "    at f (cell-1.js:1:11)\n"
                  "    (2 frames of libraries)\n"
                  "    at async cell-1.js:2:1\n");
}

static void what_a_program_wrote_stays(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "no newline",
        "  File \"/workspace/a.py\", line 1, in f\n    x = 1\n",
        "    indented, and behind no frame\n",
        "  File \"\n",
        "    at \n",
        "a.c:3:1: error: expected expression\n    3 | }\n      | ^\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_folded(texts[i], texts[i]);
    }
    assert_folded("  File \"/usr/x.py\", line 1, in f\nValueError: x\n    of the message\n",
                  "  (1 frame of libraries)\nValueError: x\n    of the message\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_library_frames_of_python_become_one_line),
        cmocka_unit_test(frames_of_node_become_one_line),
        cmocka_unit_test(what_a_program_wrote_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
