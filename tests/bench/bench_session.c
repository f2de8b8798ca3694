/* SPDX-License-Identifier: MIT
 * The time of judging cell 1,000 of a session, as a ratio to cell 10, in one process. Like a
 * worker, each judgement reads the past and writes the next one. */
#include "analyzer/analyze.h"
#include "analyzer/past/past.h"
#include "policies/base/sort.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CELLS = 1000, TIMED = 20 };

static const struct {
    const char *name, *language, *first, *cell; /* #: the number of the cell */
} sessions[] = {
    { "new names", "ipython", "x = 0", "value_# = x + #\nprint(f'{value_#:.2f}')\n" },
    { "one name", "ipython", "total = 0", "total += #\nprint(total, #)\n" },
    { "functions", "ipython", "import math",
      "def step_#(a, b=1):\n    \"\"\"Adds.\"\"\"\n    c = a + b * #\n    return math.sqrt(c)\n\n"
      "print(step_#(2))\n" },
    { "pandas", "ipython", "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2, 3]})",
      "df['c#'] = df['a'] * #\ndf = df.dropna()\nprint(df.describe())\n" },
    { "shell names", "shell", "x=0", "value_#=$((x + #))\necho \"$value_#\"\n" },
    { "shell counter", "shell", "total=0", "total=$((total + 1))\necho \"$total #\"\n" },
    { "shell functions", "shell", "sum() { echo $(($1 + $2)); }",
      "f_#() { sum \"$1\" #; }\nf_# 2\n" },
    { "JavaScript", "javascript", "const fs = require('fs')",
      "const value# = [1, 2, #].map((x) => x * 2);\nconsole.log(value#.length);\n" },
};

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Judges one cell and adds it to the past; returns the time. */
static double judge(const struct cbx_policy *policy, const char *language, const char *cell,
                    struct cbx_buf *sealed, struct cbx_arena *arena)
{
    double began = now_us();
    CBX_AUTO_DONE(past) past = { 0 };
    struct cbx_decision d;
    struct cbx_entry entry = { .kind = CBX_ENTRY_CELL,
                               .language = cbx_str_of(language),
                               .text = cbx_str_of(cell) };
    if (cbx_past_read(cbx_buf_str(sealed), &past, NULL) != 0) {
        exit(1);
    }
    struct cbx_analysis request = { .source = entry.text,
                                    .language = entry.language,
                                    .past = &past };
    if (cbx_analyze(policy, &request, arena, &d, NULL) != 0 || d.verdict != CBX_ALLOW) {
        fprintf(stderr, "denied: %s\n", cell);
        exit(1);
    }
    cbx_past_add_cell_as(&past, &entry, d.summary, arena);
    cbx_buf_reset(sealed);
    cbx_past_write(&past, sealed);
    cbx_arena_reset(arena);
    return now_us() - began;
}

static void number(const char *text, int n, char *out, size_t size)
{
    size_t used = 0;
    for (; *text != '\0' && used + 16 < size; text++) {
        used += *text == '#' ? (size_t)snprintf(out + used, size - used, "%d", n)
                             : (size_t)snprintf(out + used, size - used, "%c", *text);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *times, int count)
{
    cbx_sort_heap(times, (size_t)count, sizeof(*times), compare);
    return times[count / 2];
}

int main(void)
{
    struct cbx_policy *policy;
    struct cbx_err err;
    if (cbx_policy_load("default", &policy, &err) != 0) {
        return 1;
    }
    for (size_t s = 0; s < sizeof(sessions) / sizeof(sessions[0]); s++) {
        CBX_AUTO_DONE(buf) sealed;
        CBX_AUTO_DONE(arena) arena;
        CBX_AUTO_DONE(past) begin;
        double early[TIMED], late[TIMED];
        cbx_buf_init(&sealed, CBX_PAST_BYTES_MAX);
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        cbx_past_begin(&begin, &(struct cbx_sha256){ 0 });
        cbx_past_write(&begin, &sealed);
        judge(policy, sessions[s].language, sessions[s].first, &sealed, &arena);
        for (int i = 1; i < CELLS + TIMED; i++) {
            char cell[1024];
            number(sessions[s].cell, i, cell, sizeof(cell));
            double us = judge(policy, sessions[s].language, cell, &sealed, &arena);
            if (i >= 10 && i < 10 + TIMED) {
                early[i - 10] = us;
            } else if (i >= CELLS) {
                late[i - CELLS] = us;
            }
        }
        double first = median(early, TIMED), last = median(late, TIMED);
        printf("judging cell %d, %s: %.0f us, cell 10 %.0f us, ratio %.2f, past %zu KiB\n", CELLS,
               sessions[s].name, last, first, last / first, sealed.len / 1024);
    }
    cbx_policy_free(policy);
    return 0;
}
