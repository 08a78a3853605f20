/* SPDX-License-Identifier: MIT
 *
 * The status codes that luaweb itself knows by name (RFC 9110 §15 unless said), as a
 * table: LW_STATUSES(X) calls X(code, "reason").  Other codes from 200 to 599 go out
 * with an empty reason. */
#ifndef LW_BASE_STATUS_H
#define LW_BASE_STATUS_H

/* clang-format off */
#define LW_STATUSES(X)                                                                 \
    X(100, "Continue")                        X(101, "Switching Protocols")            \
    X(200, "OK")                              X(201, "Created")                        \
    X(202, "Accepted")                        X(203, "Non-Authoritative Information")  \
    X(204, "No Content")                      X(205, "Reset Content")                  \
    X(206, "Partial Content")                                                          \
    X(300, "Multiple Choices")                X(301, "Moved Permanently")              \
    X(302, "Found")                           X(303, "See Other")                      \
    X(304, "Not Modified")                    X(307, "Temporary Redirect")             \
    X(308, "Permanent Redirect")                                                       \
    X(400, "Bad Request")                     X(401, "Unauthorized")                   \
    X(402, "Payment Required")                X(403, "Forbidden")                      \
    X(404, "Not Found")                       X(405, "Method Not Allowed")             \
    X(406, "Not Acceptable")                  X(407, "Proxy Authentication Required")  \
    X(408, "Request Timeout")                 X(409, "Conflict")                       \
    X(410, "Gone")                            X(411, "Length Required")                \
    X(412, "Precondition Failed")             X(413, "Content Too Large")              \
    X(414, "URI Too Long")                    X(415, "Unsupported Media Type")         \
    X(416, "Range Not Satisfiable")           X(417, "Expectation Failed")             \
    X(421, "Misdirected Request")             X(422, "Unprocessable Content")          \
    X(426, "Upgrade Required")                X(428, "Precondition Required")          \
    X(429, "Too Many Requests")               X(431, "Request Header Fields Too Large")\
    X(451, "Unavailable For Legal Reasons")                                            \
    X(500, "Internal Server Error")           X(501, "Not Implemented")                \
    X(502, "Bad Gateway")                     X(503, "Service Unavailable")            \
    X(504, "Gateway Timeout")                 X(505, "HTTP Version Not Supported")
/* clang-format on */

/* The reason phrase for a code, "" when the table does not have it. */
const char *lw_status_reason(int code);

#endif
