#include <jansson.h>
#include <stdio.h>
TEST(lists, each)
{
    printf("%d\n", 1);
}
static void EV_CALL show(EV_P_ FILE *f, const char *name UNUSED, __unused int n)
{
    json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(rule, "names"), i, entry)
    {
        fprintf(f, "%zu\n", i);
    }
    LIST_EACH(entry, list)
        fputs(name, f);
}
