/* SPDX-License-Identifier: MIT
 * Time of a decision in ratio to the bare parse of the same bytes, in one process. */
#include "analyzer/analyze.h"
#include "policies/base/buf.h"

#include <stdio.h>
#include <time.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_javascript(void);

static const char python[] =
    "import numpy as np\n"
    "class Model%d:\n"
    "    \"\"\"Fits a line.\"\"\"\n"
    "    def __init__(self, rate=0.1, steps=100):\n"
    "        self.rate, self.steps = rate, steps\n"
    "        self.weights = {'a': [1, 2, 3], 'b': None}\n\n"
    "    def fit(self, xs, ys):\n"
    "        for step in range(self.steps):\n"
    "            error = np.dot(xs, self.weights['a']) - ys\n"
    "            if error.mean() < 1e-6:\n"
    "                print(f'done after {step} steps: {error.mean():.3f}')\n"
    "                break\n"
    "        return [w ** 2 for w in self.weights['a'] if w]\n\n";
static const char javascript[] =
    "const fs = require('fs');\n"
    "class Model%d {\n"
    "  constructor(rate = 0.1, steps = 100) { this.rate = rate; this.steps = steps; }\n"
    "  async fit(xs, ys) {\n"
    "    for (let step = 0; step < this.steps; step++) {\n"
    "      const error = xs.map((x, i) => x * this.rate - ys[i]).reduce((a, b) => a + b, 0);\n"
    "      if (Math.abs(error) < 1e-6) { console.log(`done after ${step}: ${error}`); break; }\n"
    "    }\n"
    "    const {a, b: [first]} = {a: 1, b: [2]};\n"
    "    return xs.filter((w) => w ?? a).concat(first);\n"
    "  }\n"
    "}\n";

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double time_parse(const TSLanguage *language, struct cbx_str text, int rounds)
{
    double best = 1e12;
    for (int i = 0; i < rounds; i++) {
        double began = now_us();
        TSParser *parser = ts_parser_new();
        ts_parser_set_language(parser, language);
        TSTree *tree = ts_parser_parse_string(parser, NULL, text.p, (uint32_t)text.len);
        ts_tree_delete(tree);
        ts_parser_delete(parser);
        double took = now_us() - began;
        best = took < best ? took : best;
    }
    return best;
}

static double time_decision(const struct cbx_policy *policy, const char *language,
                            struct cbx_str text, struct cbx_arena *arena, int rounds)
{
    double best = 1e12;
    for (int i = 0; i < rounds; i++) {
        double began = now_us();
        struct cbx_analysis request = { .source = text, .language = cbx_str_of(language) };
        struct cbx_decision decision;
        struct cbx_err err;
        cbx_arena_reset(arena);
        if (cbx_analyze(policy, &request, arena, &decision, &err) != 0 ||
            decision.verdict != CBX_ALLOW) {
            fprintf(stderr, "bench: the sample is not allowed\n");
            return 0;
        }
        double took = now_us() - began;
        best = took < best ? took : best;
    }
    return best;
}

/* The template again and again up to `size`; whole copies. */
static void fill(struct cbx_buf *out, const char *template, size_t size)
{
    static char one[4096];
    for (int i = 0; out->len < size; i++) {
        const char *mark = strstr(template, "%d");
        snprintf(one, sizeof(one), "%.*s%d%s", (int)(mark - template), template, i, mark + 2);
        if (template == javascript && i > 0) { /* the first line declares a constant: once */
            cbx_buf_add_cstr(out, strchr(one, '\n') + 1);
        } else {
            cbx_buf_add_cstr(out, one);
        }
    }
}

int main(void)
{
    struct cbx_policy *policy;
    struct cbx_err err;
    if (cbx_policy_load("default", &policy, &err) != 0) {
        fprintf(stderr, "bench: %s\n", err.text);
        return 1;
    }
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    printf("%-12s %10s %12s %12s %8s   budget 1.5\n", "language", "bytes", "parse us",
           "decision us", "ratio");
    for (int language = 0; language < 2; language++) {
        for (size_t size = 1000; size <= 1000000; size *= 10) {
            CBX_AUTO_DONE(buf) text;
            cbx_buf_init(&text, 2 * 1024 * 1024);
            fill(&text, language == 0 ? python : javascript, size);
            int rounds = size <= 10000 ? 200 : size <= 100000 ? 30 : 5;
            double parse =
                time_parse(language == 0 ? tree_sitter_python() : tree_sitter_javascript(),
                           cbx_buf_str(&text), rounds);
            double decision = time_decision(policy, language == 0 ? "python" : "javascript",
                                            cbx_buf_str(&text), &arena, rounds);
            printf("%-12s %10zu %12.0f %12.0f %8.2f\n", language == 0 ? "python" : "javascript",
                   text.len, parse, decision, decision / parse);
        }
    }
    cbx_policy_free(policy);
    return 0;
}
