/* SPDX-License-Identifier: MIT
 *
 * An SSL_CTX with its store.  OpenSSL would look into a folder of certificates anew for
 * each connection, on the loop's thread: folders are read whole instead, beforehand. */
#include "net/trust.h"

#include <dirent.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/require.h"
#include "net/loop.h"
#include "net/tls.h"
#include "net/work.h"

#define SESSIONS  256 /* kept at most; two names may want the same place */
#define PATH_ROOM 1024

struct session {
    char *name; /* owned; NULL: the place is empty */
    SSL_SESSION *session;
};

struct luaweb_trust {
    struct lw_work work; /* first: its callbacks find us by it */
    struct lw_loop *loop;
    uint32_t id;
    uint32_t holders;
    bool is_read;
    bool is_system;
    uint32_t files; /* that certificates were read of */
    SSL_CTX *context;
    struct session sessions[SESSIONS];
    char why[PATH_ROOM + 256];
    char file[]; /* NUL-terminated */
};

/* The reason that OpenSSL gives for its last failure in this thread. */
static const char *last_reason(void)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason ? reason : "not readable as certificates in PEM form";
}

static bool read_file(struct luaweb_trust *trust, const char *path)
{
    if (access(path, R_OK) != 0)
        return false;
    if (!SSL_CTX_load_verify_file(trust->context, path))
        return false;
    trust->files++;
    return true;
}

/* The links of c_rehash(1): eight hexadecimal digits, a dot and a number. */
static bool is_hashed(const char *name)
{
    return strspn(name, "0123456789abcdef") == 8 && name[8] == '.' && name[9] != '\0'
           && strspn(name + 9, "0123456789") == strlen(name + 9);
}

static void read_folder(struct luaweb_trust *trust, const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        char path[PATH_ROOM];
        int size = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (is_hashed(entry->d_name) && size < (int)sizeof path)
            read_file(trust, path);
    }
    closedir(dir);
}

/* Folders that are separated by colons. */
static void read_folders(struct luaweb_trust *trust, const char *list)
{
    while (*list) {
        char folder[PATH_ROOM];
        size_t size = strcspn(list, ":");
        if (size > 0 && size < sizeof folder) {
            memcpy(folder, list, size);
            folder[size] = '\0';
            read_folder(trust, folder);
        }
        list += size;
        list += *list == ':';
    }
}

/* The default folder holds what the default file does, so it is read only where there
 * is no such file. */
static void read_system(struct luaweb_trust *trust)
{
    const char *file = getenv(X509_get_default_cert_file_env());
    const char *folders = getenv(X509_get_default_cert_dir_env());
    if (!file)
        file = X509_get_default_cert_file();
    read_file(trust, file);
    if (folders || trust->files == 0)
        read_folders(trust, folders ? folders : X509_get_default_cert_dir());
    if (trust->files == 0)
        snprintf(trust->why, sizeof trust->why,
                 "no certificates of authorities at %.200s: install the package "
                 "ca-certificates, or set SSL_CERT_FILE",
                 file);
}

static int on_session(SSL *ssl, SSL_SESSION *session)
{
    return lw_tls_keep_session(SSL_get_app_data(ssl), session);
}

static void on_info(const SSL *ssl, int what, int result)
{
    (void)result;
    if (what == SSL_CB_CONNECT_LOOP)
        lw_tls_count_message(SSL_get_app_data(ssl));
}

static SSL_CTX *new_context(void)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    lw_require(context != NULL);
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION); /* TLS 1.3 has none either */
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE
                                  | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
                                  | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY); /* see lw_tls_receive */
    SSL_CTX_set_info_callback(context, on_info);
    SSL_CTX_set_session_cache_mode(context,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, on_session);
    return context;
}

/* In a thread of the pool. */
static void run(struct lw_work *work)
{
    struct luaweb_trust *trust = (struct luaweb_trust *)work;
    ERR_clear_error();
    trust->context = new_context();
    if (trust->is_system)
        read_system(trust);
    else if (trust->file[0] && access(trust->file, R_OK) != 0)
        snprintf(trust->why, sizeof trust->why, "there is no file %.1000s to read",
                 trust->file);
    else if (trust->file[0] && !read_file(trust, trust->file))
        snprintf(trust->why, sizeof trust->why, "%.1000s: %.200s", trust->file,
                 last_reason());
    ERR_clear_error();
}

static void destroy(struct luaweb_trust *trust)
{
    for (int i = 0; i < SESSIONS; i++) {
        free(trust->sessions[i].name);
        SSL_SESSION_free(trust->sessions[i].session);
    }
    SSL_CTX_free(trust->context);
    lw_loop_drop_id(trust->loop, trust->id);
    free(trust);
}

static void done(struct lw_work *work)
{
    struct luaweb_trust *trust = (struct luaweb_trust *)work;
    trust->is_read = true;
    if (trust->holders == 0)
        destroy(trust);
    else
        lw_loop_wake(trust->loop, trust->id);
}

struct luaweb_trust *lw_trust_begin(struct lw_loop *loop, struct lw_owner *owner,
                                    const char *file)
{
    size_t size = file ? strlen(file) + 1 : 1;
    struct luaweb_trust *trust = lw_alloc(sizeof *trust + size);
    memset(trust, 0, sizeof *trust + size);
    trust->work.run = run;
    trust->work.done = done;
    trust->loop = loop;
    trust->holders = 1;
    trust->is_system = file == NULL;
    if (file)
        memcpy(trust->file, file, size);
    trust->id = lw_loop_add_id(loop, owner, LW_ID_TRUST, trust);
    if (lw_work_start(loop, &trust->work, LW_WORK_FILE))
        return trust;
    destroy(trust);
    return NULL;
}

uint32_t lw_trust_id(const struct luaweb_trust *trust)
{
    return trust->id;
}

int lw_trust_result(const struct luaweb_trust *trust, const char **why)
{
    if (!trust->is_read)
        return LUAWEB_TRUST_WAIT;
    *why = trust->why;
    return trust->why[0] ? LUAWEB_TRUST_FAILED : LUAWEB_TRUST_READ;
}

void lw_trust_hold(struct luaweb_trust *trust)
{
    trust->holders++;
}

void lw_trust_free(struct luaweb_trust *trust)
{
    if (--trust->holders > 0 || trust->work.state == LW_WORK_RUNNING)
        return;
    lw_work_cancel(&trust->work);
    destroy(trust);
}

SSL_CTX *lw_trust_context(const struct luaweb_trust *trust)
{
    return trust->context;
}

static struct session *place_of(struct luaweb_trust *trust, const char *name)
{
    return &trust->sessions[lw_fnv(name, strlen(name)) % SESSIONS];
}

static void empty(struct session *place)
{
    free(place->name);
    SSL_SESSION_free(place->session);
    *place = (struct session){.name = NULL};
}

void lw_trust_keep_session(struct luaweb_trust *trust, const char *name,
                           SSL_SESSION *session)
{
    struct session *place = place_of(trust, name);
    size_t size = strlen(name) + 1;
    empty(place);
    place->name = lw_alloc(size);
    memcpy(place->name, name, size);
    place->session = session;
}

/* A ticket of TLS 1.3 is used once, so that nobody can tell who comes back (RFC 8446
 * §C.4); the server gives new ones.  Earlier versions have one for many. */
SSL_SESSION *lw_trust_take_session(struct luaweb_trust *trust, const char *name)
{
    struct session *place = place_of(trust, name);
    if (!place->name || strcmp(place->name, name) != 0)
        return NULL;
    SSL_SESSION *session = place->session;
    SSL_SESSION_up_ref(session);
    if (!SSL_SESSION_is_resumable(session)
        || SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION)
        empty(place);
    return session;
}
