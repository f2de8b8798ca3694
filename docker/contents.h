/* SPDX-License-Identifier: MIT
 * The contents of an image: the runtime of its language, and the packages that programs may
 * load. The build reads them from the image itself and stores them as a label of the image
 * (docker/images/build), so the label is part of the image's id and no sandbox can change it.
 * Pure: a text in, a checked list out. */
#ifndef CBX_DOCKER_CONTENTS_H
#define CBX_DOCKER_CONTENTS_H

#include "policies/base/auto.h"
#include "policies/base/buf.h"
#include "policies/base/text/json.h"

#define CBX_LABEL_CONTENTS "codebox.contents"

enum { CBX_CONTENTS_MAX_BYTES = 64 * 1024, CBX_CONTENTS_PACKAGES_MAX = 2000 };

/* A package. Names and versions have only letters, digits and ".-_+~@/!". */
struct cbx_image_package {
    struct cbx_str name, version;
    const json_t *modules; /* names that programs import, strings; may be empty */
};

/* Borrowed from `json`. Zeroed memory is an empty list. */
struct cbx_contents {
    json_t *json;
    struct cbx_str runtime, runtime_version; /* "Python", "3.13.5" */
    struct cbx_image_package *packages;      /* in the order of the label */
    size_t count;
};

/* Reads a label: {"version":1, "runtime":{name,version}, "packages":[{name,version,modules}]}.
 * CBX_EINVAL for any other text, CBX_ETOOBIG above the limits; *out is then empty.
 * cbx_contents_done frees it. */
int cbx_contents_read(struct cbx_str label, struct cbx_contents *out, struct cbx_err *err);
void cbx_contents_done(struct cbx_contents *contents);
CBX_DEFINE_AUTO_DONE(contents)

/* Returns the package of this name, as PEP 503 compares names; NULL if there is none. */
const struct cbx_image_package *cbx_contents_find(const struct cbx_contents *contents,
                                                  struct cbx_str name);

/* Returns the package that has a module of this name, in any case; NULL if there is none. */
const struct cbx_image_package *cbx_contents_provider(const struct cbx_contents *contents,
                                                      struct cbx_str module);

/* Appends the names of at most three packages whose names, or modules, are similar: "'scipy'",
 * "'lxml' or 'html5lib'". False if there are none. */
bool cbx_contents_add_nearest(const struct cbx_contents *contents, struct cbx_str name,
                              struct cbx_buf *out);

/* Appends one package: "numpy 1.24.2", and its modules if their names differ from the package's:
 * "beautifulsoup4 4.11.2 (import bs4)". */
void cbx_image_package_add(const struct cbx_image_package *package, struct cbx_buf *out);

#endif
