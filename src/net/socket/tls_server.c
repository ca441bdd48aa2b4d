#include "net/socket/tls_server.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECONDS_A_DAY = 86400, OTHERS_MODE = 077 };

#define SUITES_1_3 "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
#define SUITES_1_2                                               \
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:" \
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:" \
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
#define GROUPS "X25519:P-256:P-384"

/* What is being read, for the sentences of a refusal. */
struct files {
    const char *certificate, *key;
    char *error;
};

static const char *reason(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    return text != NULL ? text : "OpenSSL gives no reason";
}

static int refuse(const struct files *files, int code, const char *what)
{
    (void)snprintf(files->error, TLS_ERROR_BYTES,
                   "net.tls_certificate = %.200s, net.tls_key = %.200s: %s", files->certificate,
                   files->key, what);
    ERR_clear_error();
    return code;
}

static int CC_PRINTF(4, 5)
    refuse_file(const struct files *files, int code, const char *path, const char *format, ...)
{
    va_list arguments;
    char why[200];
    va_start(arguments, format);
    (void)vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    (void)snprintf(files->error, TLS_ERROR_BYTES, "%s = %.200s: %s",
                   path == files->key ? "net.tls_key" : "net.tls_certificate", path, why);
    ERR_clear_error();
    return code;
}

/* Reads a whole regular file of 1 to `most` bytes into new memory, which ends with a zero. */
static int read_file(const struct files *files, const char *path, size_t most, char **text,
                     size_t *bytes)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return refuse_file(files, -errno, path, "%s", strerror(errno));
    int error = fstat(file, &about) == 0 ? 0 : -errno;
    if (error == 0 && !S_ISREG(about.st_mode))
        error = refuse_file(files, -EINVAL, path, "it is not a regular file");
    else if (error == 0 && path == files->key && (about.st_mode & OTHERS_MODE) != 0)
        error = refuse_file(files, -EINVAL, path,
                            "its mode is %04o: group or others may use a private key; "
                            "chmod 600 it",
                            (unsigned)about.st_mode & 07777u);
    else if (error == 0 && (about.st_size <= 0 || (size_t)about.st_size > most))
        error = refuse_file(files, -EINVAL, path, "it has %ld bytes; 1 to %zu are taken",
                            (long)about.st_size, most);
    else if (error != 0)
        (void)refuse_file(files, error, path, "%s", strerror(-error));
    if (error == 0 && (*text = malloc(most + 1)) == NULL)
        error = refuse_file(files, -ENOMEM, path, "no memory");
    size_t used = 0;
    while (error == 0 && used < most) {
        ssize_t count = read(file, *text + used, most - used);
        if (count < 0)
            error = refuse_file(files, -errno, path, "%s", strerror(errno));
        if (count <= 0)
            break;
        used += (size_t)count;
    }
    (void)close(file);
    *bytes = used;
    return error;
}

/* No program can type the passphrase of a key. */
static int no_passphrase(char *text, int bytes, int writing, void *context)
{
    (void)text, (void)bytes, (void)writing, (void)context;
    return -1;
}

static int add_certificates(const struct files *files, SSL_CTX *context, BIO *text)
{
    unsigned count = 0;
    X509 *certificate;
    while ((certificate = PEM_read_bio_X509(text, NULL, no_passphrase, NULL)) != NULL) {
        bool is_taken = count == 0 ? SSL_CTX_use_certificate(context, certificate) == 1
                                   : count <= TLS_CHAIN_MAX &&
                                         SSL_CTX_add1_chain_cert(context, certificate) == 1;
        X509_free(certificate);
        if (!is_taken)
            return refuse_file(files, -EINVAL, files->certificate, "certificate %u of it: %s",
                               count + 1,
                               count > TLS_CHAIN_MAX ? "the chain is too long" : reason());
        count++;
    }
    if (count == 0)
        return refuse_file(files, -EINVAL, files->certificate,
                           "it has no PEM certificate (-----BEGIN CERTIFICATE-----): %s", reason());
    if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
        return refuse_file(files, -EINVAL, files->certificate, "after certificate %u: %s", count,
                           reason());
    ERR_clear_error(); /* the end of the file */
    return 0;
}

static int load_certificates(const struct files *files, SSL_CTX *context)
{
    char *text = NULL;
    size_t bytes = 0;
    int error = read_file(files, files->certificate, TLS_CERTIFICATE_FILE_MAX, &text, &bytes);
    BIO *source = error == 0 ? BIO_new_mem_buf(text, (int)bytes) : NULL;
    if (error == 0)
        error = source != NULL ? add_certificates(files, context, source)
                               : refuse(files, -ENOMEM, "no memory");
    BIO_free(source);
    free(text);
    return error;
}

static int load_key(const struct files *files, SSL_CTX *context)
{
    char *text = NULL;
    size_t bytes = 0;
    int error = read_file(files, files->key, TLS_KEY_FILE_MAX, &text, &bytes);
    BIO *source = error == 0 ? BIO_new_mem_buf(text, (int)bytes) : NULL;
    EVP_PKEY *key =
        source != NULL ? PEM_read_bio_PrivateKey(source, NULL, no_passphrase, NULL) : NULL;
    if (error == 0 && key == NULL)
        error = refuse_file(files, -EINVAL, files->key,
                            "it has no PEM private key without a passphrase: %s", reason());
    if (error == 0 && X509_check_private_key(SSL_CTX_get0_certificate(context), key) != 1)
        error = refuse(files, -EINVAL, "the key is not the one of the certificate");
    if (error == 0 && SSL_CTX_use_PrivateKey(context, key) != 1)
        error = refuse(files, -EINVAL, reason());
    EVP_PKEY_free(key);
    BIO_free(source);
    if (text != NULL) {
        explicit_bzero(text, TLS_KEY_FILE_MAX + 1);
        free(text);
    }
    return error;
}

/* ALPN: of what a client offers http/1.1 must be one. */
static int choose_protocol(SSL *session, const unsigned char **chosen, unsigned char *bytes,
                           const unsigned char *offered, unsigned count, void *context)
{
    static const unsigned char http[] = "\x08http/1.1";
    (void)session, (void)context;
    unsigned char *found = NULL;
    if (SSL_select_next_proto(&found, bytes, http, sizeof http - 1, offered, count) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

static bool set_terms(SSL_CTX *context)
{
    SSL_CTX_set_security_level(context, 2); /* RSA from 2,048 bits */
    (void)SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                           SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                           SSL_OP_PRIORITIZE_CHACHA | SSL_OP_CLEANSE_PLAINTEXT);
    (void)SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    (void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_num_tickets(context, 0) == 1 &&
           SSL_CTX_set_max_early_data(context, 0) == 1 &&
           SSL_CTX_set_ciphersuites(context, SUITES_1_3) == 1 &&
           SSL_CTX_set_cipher_list(context, SUITES_1_2) == 1 &&
           SSL_CTX_set1_groups_list(context, GROUPS) == 1;
}

static bool read_expiry(SSL_CTX *context, int64_t *unix_s)
{
    int days = 0, seconds = 0;
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    const ASN1_TIME *end = X509_get0_notAfter(SSL_CTX_get0_certificate(context));
    bool is_read = epoch != NULL && ASN1_TIME_diff(&days, &seconds, epoch, end) == 1;
    ASN1_STRING_free(epoch);
    *unix_s = (int64_t)days * SECONDS_A_DAY + seconds;
    return is_read;
}

int tls_server_load(struct tls_server **server, const char *certificate_path, const char *key_path,
                    char error[TLS_ERROR_BYTES])
{
    const struct files files = { certificate_path, key_path, error };
    struct tls_server *made = calloc(1, sizeof *made);
    *server = NULL;
    error[0] = '\0';
    ERR_clear_error();
    if (made == NULL || (made->context = SSL_CTX_new(TLS_server_method())) == NULL) {
        free(made);
        return refuse(&files, -ENOMEM, "no memory");
    }
    int failed = set_terms(made->context) ? 0 : refuse(&files, -EINVAL, reason());
    if (failed == 0)
        failed = load_certificates(&files, made->context);
    if (failed == 0)
        failed = load_key(&files, made->context);
    if (failed == 0 && !read_expiry(made->context, &made->expires_unix_s))
        failed = refuse_file(&files, -EINVAL, files.certificate, "its end date cannot be read");
    if (failed != 0) {
        tls_server_free(made);
        return failed;
    }
    *server = made;
    return 0;
}

struct tls_server *tls_server_share(const struct tls_server *server)
{
    struct tls_server *shared = malloc(sizeof *shared);
    if (shared == NULL)
        return NULL;
    *shared = *server;
    if (SSL_CTX_up_ref(shared->context) != 1) {
        free(shared);
        return NULL;
    }
    return shared;
}

void tls_server_free(struct tls_server *server)
{
    if (server == NULL)
        return;
    SSL_CTX_free(server->context);
    free(server);
}
