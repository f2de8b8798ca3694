/* SPDX-License-Identifier: MIT
 * Time of a decision in ratio to the bare parse of the same bytes, in one process. */
#include "analyzer/analyze.h"
#include "policies/base/buf.h"
#include "policies/load/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_javascript(void);
const TSLanguage *tree_sitter_bash(void);

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

/* Shapes that are made to cost: each has a beginning, a part that is repeated, and an end. They are
 * denied or allowed, that does not matter here. */
static const struct shape {
    const char *name, *language, *before, *each, *after;
    int times;
} shapes[] = {
    { "brackets", "python", "x = ", "(", "", 100000 },
    { "lists", "python", "x = ", "[", "", 100000 },
    { "attributes", "python", "x = a", ".b", "", 100000 },
    { "calls", "python", "x = a", "()", "", 100000 },
    { "sums", "python", "x = 1", " + 1", "", 100000 },
    { "names", "python", "", "a%d = b%d\n", "", 50000 },
    { "aliases", "python", "a0 = os\n", "a%d = a%d\n", "a1.system('id')\n", 50000 },
    { "cycle", "python", "", "a = b; b = a\n", "b.c()\n", 20000 },
    { "literal", "python", "x = '", "aaaaaaaaaaaaaaaa", "'\n", 62500 },
    { "doubling", "python", "a = 'x'\n", "a = a + a\n", "eval(a)\n", 2000 },
    { "repeats", "python", "x = 'a'", " * 4000", "\n", 2000 },
    { "one function", "python", "def f(a): return f(a + 'x')\n", "f('%d')\n", "", 20000 },
    { "arrays", "javascript", "x = ", "[", "", 100000 },
    { "members", "javascript", "x = a", ".b", "", 100000 },
    { "functions", "javascript", "x = ", "() => ", "1", 50000 },
    { "names", "javascript", "", "var a%d = b%d;\n", "", 50000 },
    { "pipes", "shell", "a", " | a", "\n", 50000 },
    { "substitutions", "shell", "echo ", "$(echo ", "", 50000 },
};

static void fill_shape(struct cbx_buf *out, const struct shape *shape)
{
    char one[64];
    cbx_buf_add_cstr(out, shape->before);
    for (int i = 1; i <= shape->times; i++) {
        const char *mark = strstr(shape->each, "%d"),
                   *second = mark ? strstr(mark + 2, "%d") : NULL;
        if (second != NULL) {
            snprintf(one, sizeof(one), "%.*s%d%.*s%d%s", (int)(mark - shape->each), shape->each, i,
                     (int)(second - mark - 2), mark + 2, i - 1, second + 2);
        } else if (mark != NULL) {
            snprintf(one, sizeof(one), "%.*s%d%s", (int)(mark - shape->each), shape->each, i,
                     mark + 2);
        }
        cbx_buf_add_cstr(out, mark != NULL ? one : shape->each);
    }
    cbx_buf_add_cstr(out, shape->after);
}

static const TSLanguage *grammar_of(const char *language)
{
    return strcmp(language, "python") == 0       ? tree_sitter_python()
           : strcmp(language, "javascript") == 0 ? tree_sitter_javascript()
                                                 : tree_sitter_bash();
}

static void measure_shapes(const struct cbx_policy *policy, struct cbx_arena *arena)
{
    printf("\n%-12s %-14s %10s %12s %12s\n", "language", "shape", "bytes", "parse ms",
           "decision ms");
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        CBX_AUTO_DONE(buf) text;
        cbx_buf_init(&text, 4 * 1024 * 1024);
        fill_shape(&text, &shapes[i]);
        double parse = time_parse(grammar_of(shapes[i].language), cbx_buf_str(&text), 1);
        struct cbx_analysis request = { .source = cbx_buf_str(&text),
                                        .language = cbx_str_of(shapes[i].language) };
        struct cbx_decision decision;
        struct cbx_err err;
        cbx_arena_reset(arena);
        double began = now_us();
        int failed = cbx_analyze(policy, &request, arena, &decision, &err);
        printf("%-12s %-14s %10zu %12.0f %12.0f%s\n", shapes[i].language, shapes[i].name, text.len,
               parse / 1000, (now_us() - began) / 1000, failed ? "   FAILED" : "");
    }
}

static void read_file(const char *path, struct cbx_buf *out)
{
    FILE *file = fopen(path, "rb");
    char chunk[4096];
    for (size_t n; file != NULL && (n = fread(chunk, 1, sizeof(chunk), file)) > 0;) {
        cbx_buf_add_bytes(out, chunk, n);
    }
    if (file != NULL) {
        fclose(file);
    }
}

static const char *language_of(const char *path)
{
    size_t len = strlen(path);
    return len > 3 && strcmp(path + len - 3, ".js") == 0 ? "javascript" : "python";
}

/* The verdict has no influence on the figure. */
static double time_any_decision(const struct cbx_policy *policy, const char *language,
                                struct cbx_str text, struct cbx_arena *arena)
{
    double best = 1e12;
    for (int i = 0; i < 3; i++) {
        struct cbx_analysis request = { .source = text, .language = cbx_str_of(language) };
        struct cbx_decision decision;
        struct cbx_err err;
        cbx_arena_reset(arena);
        double began = now_us();
        if (cbx_analyze(policy, &request, arena, &decision, &err) != 0) {
            fprintf(stderr, "bench: %s\n", err.text);
        }
        double took = now_us() - began;
        best = took < best ? took : best;
    }
    return best;
}

/* Real files: the total, and the worst ratio of a file over 1 kB. All files are parsed before the
 * first one is judged: tree-sitter then still has malloc's memory to itself. */
static void measure_files(const struct cbx_policy *policy, struct cbx_arena *arena, char **paths,
                          int count)
{
    double parses = 0, decisions = 0, worst = 0, *parse = calloc((size_t)count, sizeof(*parse));
    const char *which = "";
    size_t bytes = 0;
    for (int i = 0; parse != NULL && i < count * 2; i++) {
        CBX_AUTO_DONE(buf) text;
        cbx_buf_init(&text, 4 * 1024 * 1024);
        read_file(paths[i % count], &text);
        const char *language = language_of(paths[i % count]);
        if (i < count) {
            parse[i] = time_parse(grammar_of(language), cbx_buf_str(&text), 3);
            parses += parse[i];
            bytes += text.len;
            continue;
        }
        double took = time_any_decision(policy, language, cbx_buf_str(&text), arena);
        decisions += took;
        if (text.len >= 1000 && took / parse[i - count] > worst) {
            worst = took / parse[i - count];
            which = paths[i - count];
        }
    }
    printf("files: %zu bytes, parse %.0f us, decision %.0f us, ratio %.2f; worst %.2f %s\n", bytes,
           parses, decisions, decisions / parses, worst, which);
    free(parse);
}

enum { SIZES = 4 };

/* The bare parses first, for the same reason. */
static void measure_sizes(const struct cbx_policy *policy, struct cbx_arena *arena)
{
    static const char *const languages[] = { "python", "javascript" };
    double parse[2][SIZES];
    for (int i = 0; i < 2 * 2 * SIZES; i++) {
        int language = i / SIZES % 2, size = i % SIZES;
        size_t bytes = 1000;
        for (int k = 0; k < size; k++) {
            bytes *= 10;
        }
        CBX_AUTO_DONE(buf) text;
        cbx_buf_init(&text, 2 * 1024 * 1024);
        fill(&text, language == 0 ? python : javascript, bytes);
        int rounds = bytes <= 10000 ? 200 : bytes <= 100000 ? 30 : 5;
        if (i < 2 * SIZES) {
            parse[language][size] =
                time_parse(grammar_of(languages[language]), cbx_buf_str(&text), rounds);
            continue;
        }
        double decision =
            time_decision(policy, languages[language], cbx_buf_str(&text), arena, rounds);
        printf("decision, %s of %zu bytes: %.0f us, parse %.0f us, ratio %.2f\n",
               languages[language], text.len, decision, parse[language][size],
               decision / parse[language][size]);
    }
}

/* A policy of 1,000 rules that extends `default`, and the bare reading of its YAML. */
static void measure_policy(void)
{
    enum { RULES = 1000, TIMES = 20 };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 4 << 20);
    cbx_buf_add_cstr(&text, "version: 1\nname: bench\nextends: [default]\nrules:\n");
    for (int i = 0; i < RULES; i++) {
        cbx_buf_printf(&text,
                       "  - {id: r.%d, match: {call: [mod%d.f, \"pkg%d.*\"], literal: \"*x%d*\"}, "
                       "message: m}\n",
                       i, i, i, i);
    }
    double load = 1e9, read = 1e9;
    for (int i = 0; i < TIMES; i++) {
        struct cbx_policy *policy = NULL;
        struct cbx_yaml *root;
        struct cbx_err err;
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        double began = now_us();
        if (cbx_yaml_parse(cbx_buf_str(&text), 32, &arena, &root, &err) != 0) {
            return;
        }
        double parsed = now_us();
        if (cbx_policy_parse(cbx_buf_str(&text), "bench", &policy, &err) != 0) {
            return;
        }
        double loaded = now_us();
        cbx_policy_free(policy);
        read = parsed - began < read ? parsed - began : read;
        load = loaded - parsed < load ? loaded - parsed : load;
    }
    printf("\npolicy of 1,000 rules: loaded in %.1f ms, its YAML alone read in %.1f ms, %.2f times "
           "that\n",
           load / 1000, read / 1000, load / read);
}

int main(int argc, char **argv)
{
    struct cbx_policy *policy;
    struct cbx_err err;
    if (cbx_policy_load("default", &policy, &err) != 0) {
        fprintf(stderr, "bench: %s\n", err.text);
        return 1;
    }
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    if (argc > 1) {
        measure_files(policy, &arena, argv + 1, argc - 1);
        cbx_policy_free(policy);
        return 0;
    }
    printf("decisions (budget 1.2, of 1 MB 1.4)\n");
    measure_sizes(policy, &arena);
    measure_shapes(policy, &arena);
    cbx_policy_free(policy);
    measure_policy();
    return 0;
}
