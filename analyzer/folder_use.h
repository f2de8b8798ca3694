/* SPDX-License-Identifier: MIT
 * Folders of dependencies, by their names: folder_use.def. codebox-lint skips these folders, and
 * `codebox run` does not upload them. Pure. */
#ifndef CBX_ANALYZER_FOLDER_USE_H
#define CBX_ANALYZER_FOLDER_USE_H

enum cbx_folder_use { CBX_FOLDER_OWN = 0, CBX_FOLDER_LIKELY_DEPENDENCY, CBX_FOLDER_DEPENDENCY };

/* Returns the use of a folder with this name, which is the last part of its path; CBX_FOLDER_OWN,
 * files of the project, for a name without a row. */
enum cbx_folder_use cbx_folder_use_of(const char *name);

#endif
