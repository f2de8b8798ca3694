/* SPDX-License-Identifier: MIT
 * The list of facts. */
#include "analyzer/facts/facts.h"

#include "policies/base/array.h"

#include <strings.h>

struct cbx_fact *cbx_facts_add(struct cbx_facts *facts, enum cbx_fact_kind kind,
                               struct cbx_str name, uint32_t start, uint32_t end)
{
    if (!CBX_ARRAY_RESERVE(facts->arena, facts->items, facts->count, &facts->size, 1, SIZE_MAX)) {
        return NULL;
    }
    bool inside = facts->base_end != 0;
    struct cbx_fact *fact = &facts->items[facts->count++];
    *fact = (struct cbx_fact){ .kind = kind,
                               .special = CBX_FACTS,
                               .name = name,
                               .language = facts->language,
                               .start = inside ? facts->base : facts->base + start,
                               .end = inside ? facts->base_end : facts->base + end };
    return fact;
}

void cbx_facts_add_special(struct cbx_facts *facts, enum cbx_fact_id id, struct cbx_str name,
                           uint32_t start, uint32_t end)
{
    struct cbx_fact *fact = cbx_facts_add(facts, CBX_IS_SPECIAL, name, start, end);
    if (fact != NULL) {
        fact->special = id;
    }
}

void cbx_facts_add_note(struct cbx_facts *facts, enum cbx_fact_id id, struct cbx_note name,
                        uint32_t start, uint32_t end)
{
    cbx_facts_add_special(facts, id, name.shown, start, end);
}

static bool has_word(struct cbx_str text, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= text.len; i++) {
        if (strncasecmp(text.p + i, word, len) == 0) {
            return true;
        }
    }
    return false;
}

bool cbx_is_secret_name(struct cbx_str name)
{
    static const char *const words[] = { "token",      "secret",     "password",
                                         "passwd",     "api_key",    "apikey",
                                         "access_key", "credential", "private_key" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (has_word(name, words[i])) {
            return true;
        }
    }
    return name.len > 4 && strncasecmp(name.p, "aws_", 4) == 0;
}

bool cbx_is_sql(struct cbx_str text)
{
    static const struct {
        const char *begins, *has;
    } statements[] = { { "select ", " from " },  { "insert into ", " " },   { "update ", " set " },
                       { "delete from ", " " },  { "drop table ", "drop" }, { "alter table ", " " },
                       { "replace into ", " " }, { "create table ", "(" } };
    while (text.len > 0 && (text.p[0] == ' ' || text.p[0] == '\n' || text.p[0] == '\t' ||
                            text.p[0] == '"' || text.p[0] == '\'')) {
        text = cbx_str_sub(text, 1, text.len);
    }
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        size_t len = strlen(statements[i].begins);
        if (text.len >= len && strncasecmp(text.p, statements[i].begins, len) == 0 &&
            has_word(text, statements[i].has)) {
            return true;
        }
    }
    return false;
}

void cbx_facts_drop_alone(struct cbx_facts *facts)
{
    size_t kept = 0;
    for (size_t i = 0; i < facts->count; i++) {
        if (!facts->items[i].alone) {
            facts->items[kept++] = facts->items[i];
        }
    }
    facts->count = kept;
}
