/* SPDX-License-Identifier: MIT
 *
 * The border between C and Lua, while an app loads: its graphs, machines and resources.
 * For the rules, see abi.h.  Apps live as long as the host; all texts are copied.
 */

#ifndef LW_BASE_ABI_APP_H
#define LW_BASE_ABI_APP_H

#include "base/abi.h"

/* A row of a decision graph (lua/luaweb/graph.lua). */
struct luaweb_row {
    const char *name;
    int32_t yes;      /* >= 0: the row with this index, further down; < 0: -status */
    int32_t no;       /* likewise */
    uint32_t yes_for; /* bits of the methods for which the answer is fixed */
    uint32_t no_for;
    uint32_t flags;         /* enum luaweb_row_flag */
    int32_t default_answer; /* enum luaweb_answer */
};

enum luaweb_row_flag {
    LUAWEB_ROW_KEEP = 1,  /* stays though its arrows meet */
    LUAWEB_ROW_ACTS = 2,  /* likewise: runs the app's work */
    LUAWEB_ROW_READS = 4, /* may read the content */
    LUAWEB_ROW_CORE = 8   /* C answers it where the app doesn't */
};

enum luaweb_answer {
    LUAWEB_ANSWER_NO = 0,
    LUAWEB_ANSWER_YES = 1,
    LUAWEB_ANSWER_KEPT = 2, /* yes, and the operation's reply waits in Lua */
    LUAWEB_ANSWER_ASK = 3,  /* the function */
    LUAWEB_ANSWER_UNSET = 4 /* the default, or what C finds */
};

/* The bits of the usual methods in rows; then come those that rows name. */
enum luaweb_method_bit {
    LUAWEB_METHOD_GET = 1,
    LUAWEB_METHOD_HEAD = 2,
    LUAWEB_METHOD_POST = 4,
    LUAWEB_METHOD_PUT = 8,
    LUAWEB_METHOD_PATCH = 16,
    LUAWEB_METHOD_DELETE = 32,
    LUAWEB_METHOD_OPTIONS = 64,
    LUAWEB_METHOD_OTHER = 128 /* any that no row names */
};

/* What a machine may say beside its decisions, operations and handlers.  L: a list, T:
 * a text, N: a number, D: seconds since 1970, B: 0 or 1. */
enum luaweb_property {
    LUAWEB_AVAILABLE_MEDIA_TYPES,      /* L */
    LUAWEB_AVAILABLE_LANGUAGES,        /* L */
    LUAWEB_AVAILABLE_CHARSETS,         /* L */
    LUAWEB_AVAILABLE_CONTENT_CODINGS,  /* L */
    LUAWEB_ACCEPTABLE_MEDIA_TYPES,     /* L */
    LUAWEB_ACCEPTABLE_CONTENT_CODINGS, /* L */
    LUAWEB_PATCH_MEDIA_TYPES,          /* L */
    LUAWEB_STRICT,           /* L of media_type, language, charset, content_coding */
    LUAWEB_HOSTS,            /* L */
    LUAWEB_VARY,             /* L */
    LUAWEB_ENTITY_TAG,       /* T */
    LUAWEB_LAST_MODIFIED,    /* D */
    LUAWEB_LOCATION,         /* T */
    LUAWEB_CACHE_CONTROL,    /* T */
    LUAWEB_EXPIRES,          /* D */
    LUAWEB_RETRY_AFTER,      /* N or T */
    LUAWEB_CHALLENGE,        /* L */
    LUAWEB_BODY_LIMIT,       /* N */
    LUAWEB_LENGTH_REQUIRED,  /* B */
    LUAWEB_ACCEPT_RANGES,    /* B */
    LUAWEB_PARTIAL_PUT,      /* B */
    LUAWEB_CORS_ORIGINS,     /* L or "*" */
    LUAWEB_CORS_METHODS,     /* L or "*" */
    LUAWEB_CORS_HEADERS,     /* L or "*" */
    LUAWEB_CORS_EXPOSE,      /* L or "*" */
    LUAWEB_CORS_CREDENTIALS, /* B */
    LUAWEB_CORS_MAX_AGE,     /* N */
    LUAWEB_CORS_PRIVATE_NETWORK, /* B */
    LUAWEB_TIMEOUT,              /* N: milliseconds, 0: none; literal */
    LUAWEB_ON_DISCONNECT,        /* N: enum luaweb_on_disconnect; literal */
    LUAWEB_HALF_CLOSE_GRACE,     /* N: milliseconds; literal */
    LUAWEB_PROPERTIES            /* how many there are */
};

/* What becomes of a request whose client is gone. */
enum luaweb_on_disconnect {
    LUAWEB_DISCONNECT_CANCEL, /* Lua is told, and its work ends */
    LUAWEB_DISCONNECT_NOTIFY, /* Lua is told, and goes on */
    LUAWEB_DISCONNECT_IGNORE
};

/* What an app may demand of a parameter's values. */
enum luaweb_demand {
    LUAWEB_DEMAND_NONE,
    LUAWEB_DEMAND_TEXT, /* that they are there, see luaweb_app_demand */
    LUAWEB_DEMAND_INT,
    LUAWEB_DEMAND_NUMBER,
    LUAWEB_DEMAND_UUID
};

/* Apps.  An app lives as long as the host. */
struct luaweb_app *luaweb_app_new(struct luaweb_host *host);

/* Adds a graph: its rows in order, arrows point down.  Rows are copied.  Gives its
 * number, or -1 with *why (a row that C should answer and can't is named in *row). */
int luaweb_app_graph(struct luaweb_host *host, struct luaweb_app *app,
                     const struct luaweb_row *rows, uint32_t count, const char **why,
                     uint32_t *row);

/* Adds a machine on a graph: its number.  What follows fills it in.  Functions are
 * numbers above 0 that come back in events; texts are copied. */
int luaweb_app_machine(struct luaweb_host *host, struct luaweb_app *app, int graph);

/* What the app says to a row: enum luaweb_answer, or a status from 200 to 599; with
 * LUAWEB_ANSWER_ASK the function. */
void luaweb_machine_answer(struct luaweb_host *host, struct luaweb_app *app,
                           int machine, uint32_t row, int answer, uint32_t function);

/* Adds a method; "*" stands for all but TRACE and CONNECT that are not named.
 * `bit` is that of the rows' yes_for and no_for, `operation` and `reply` are functions
 * or 0.  false: there are too many. */
bool luaweb_machine_method(struct luaweb_host *host, struct luaweb_app *app,
                           int machine, const char *name, size_t size, uint32_t bit,
                           uint32_t operation, uint32_t reply);

/* Sets a property (enum luaweb_property): a function, or a literal.  Lists are items
 * that a line feed separates; switches and numbers come in `number`. */
void luaweb_machine_property(struct luaweb_host *host, struct luaweb_app *app,
                             int machine, int property, const char *text, size_t size,
                             double number, uint32_t function);

/* Sets what speaks at a status: a function, or a constant text of a type (NULL: the one
 * that was negotiated, else text).  For 200 the constant is the representation.  false:
 * there are too many. */
bool luaweb_machine_handler(struct luaweb_host *host, struct luaweb_app *app,
                            int machine, int status, uint32_t function);
bool luaweb_machine_constant(struct luaweb_host *host, struct luaweb_app *app,
                             int machine, int status, const char *type,
                             size_t type_size, const char *text, size_t size);

/* Sets the function that makes the representation of an offered media type: the index
 * counts available_media_types from 0.  false: there are too many. */
bool luaweb_machine_offer(struct luaweb_host *host, struct luaweb_app *app, int machine,
                          uint32_t index, uint32_t function);

/* Sets a function that is asked before the walk: its no makes the request one that
 * matches no resource. */
void luaweb_machine_gate(struct luaweb_host *host, struct luaweb_app *app, int machine,
                         uint32_t function);

/* The machine of all requests that match no resource. */
void luaweb_app_unmatched(struct luaweb_host *host, struct luaweb_app *app,
                          int machine);

/* Adds a resource at a template and gives its number: they count from 0, and templates
 * of one meaning have one number.  -1 with *why (static text) when the template is
 * none; when it matches the same paths as another one under other variable names, that
 * one's number is in *other, else -1. */
int luaweb_app_resource(struct luaweb_host *host, struct luaweb_app *app,
                        const char *template_text, size_t size, const char **why,
                        int *other);

/* Demands something (enum luaweb_demand) of a variable of a resource: a request whose
 * value does not meet it gets 404, and so does a list where the variable is not
 * exploded.  A variable of {x} or {+x} must have a value then.  false: the template has
 * no such variable. */
bool luaweb_app_demand(struct luaweb_host *host, struct luaweb_app *app, int resource,
                       const char *name, size_t size, int demand);

/* Gives a resource its machine; each needs one. */
void luaweb_app_assign(struct luaweb_host *host, struct luaweb_app *app, int resource,
                       int machine);

/* Ends the building: from here on the app can serve.  A resource that no path leads to,
 * as another one takes all of them: its number, and that one in *winner; else -1. */
int luaweb_app_build(struct luaweb_host *host, struct luaweb_app *app, int *winner);

#endif
