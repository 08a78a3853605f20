/* SPDX-License-Identifier: MIT
 *
 * The numbers that every process of a server keeps, as a table: LW_METRICS_TABLE(X)
 * calls X(id, "name", "labels", kind, scope, "help").  Rows of one name stand together,
 * and the first one has the help.  Kinds: COUNTER never falls, GAUGE does, and begins at
 * 0 in each process.  Scopes: SUM is added up over all, EACH has a label "worker". */
#ifndef LW_SHARE_METRICS_TABLE_H
#define LW_SHARE_METRICS_TABLE_H

/* clang-format off */
#define LW_METRICS_TABLE(X)                                                            \
    X(CONNECTIONS, "luaweb_connections", "", GAUGE, EACH,                              \
      "Connections that are open.")                                                    \
    X(ACCEPTED, "luaweb_connections_accepted_total", "", COUNTER, EACH,                \
      "Connections accepted.")                                                         \
    X(REFUSED, "luaweb_connections_refused_total", "answer=\"503\"", COUNTER, SUM,     \
      "Connections above --max-connections: told so by a 503, or closed at once.")     \
    X(DROPPED, "luaweb_connections_refused_total", "answer=\"none\"", COUNTER, SUM,    \
      "")                                                                              \
    X(ACCEPT_RESTS, "luaweb_accept_rests_total", "", COUNTER, SUM,                     \
      "Times that accepting rested since no descriptor was left.")                     \
    X(RECEIVED, "luaweb_received_bytes_total", "", COUNTER, SUM,                       \
      "Octets read from clients.")                                                     \
    X(SENT, "luaweb_sent_bytes_total", "", COUNTER, SUM,                               \
      "Octets written to clients.")                                                    \
    X(RUNNING, "luaweb_requests_running", "", GAUGE, EACH,                             \
      "Requests whose functions Lua was asked for and that have not ended.")           \
    X(ORPHANS, "luaweb_requests_orphaned", "", GAUGE, SUM,                             \
      "Of these, requests whose clients have gone.")                                   \
    X(PIPELINED, "luaweb_requests_pipelined_total", "", COUNTER, SUM,                  \
      "Requests that had come before the answer to the one in front was sent.")      \
    X(CUT, "luaweb_responses_cut_total", "", COUNTER, SUM,                             \
      "Answers that had begun and were cut off.")                                      \
    X(LATE_IDLE, "luaweb_timeouts_total", "kind=\"idle\"", COUNTER, SUM,               \
      "Deadlines that have passed.")                                                   \
    X(LATE_HEADER, "luaweb_timeouts_total", "kind=\"header\"", COUNTER, SUM, "")       \
    X(LATE_BODY, "luaweb_timeouts_total", "kind=\"body\"", COUNTER, SUM, "")           \
    X(LATE_WRITE, "luaweb_timeouts_total", "kind=\"write\"", COUNTER, SUM, "")         \
    X(LATE_REQUEST, "luaweb_timeouts_total", "kind=\"request\"", COUNTER, SUM, "")     \
    X(LATE_GRACE, "luaweb_timeouts_total", "kind=\"half_close_grace\"", COUNTER, SUM,  \
      "")                                                                              \
    X(LATE_LINGER, "luaweb_timeouts_total", "kind=\"linger\"", COUNTER, SUM, "")       \
    X(LATE_RATE, "luaweb_timeouts_total", "kind=\"body_rate\"", COUNTER, SUM, "")      \
    X(HASHES_WAITING, "luaweb_work_waiting", "kind=\"hash\"", GAUGE, SUM,              \
      "Work that stands in line for the thread pool.")                                 \
    X(NAMES_WAITING, "luaweb_work_waiting", "kind=\"name\"", GAUGE, SUM, "")           \
    X(OFFLOADS_WAITING, "luaweb_work_waiting", "kind=\"offload\"", GAUGE, SUM, "")     \
    X(FILES_WAITING, "luaweb_work_waiting", "kind=\"file\"", GAUGE, SUM, "")           \
    X(HASHES_RUNNING, "luaweb_work_running", "kind=\"hash\"", GAUGE, SUM,              \
      "Work that runs on the thread pool.")                                            \
    X(NAMES_RUNNING, "luaweb_work_running", "kind=\"name\"", GAUGE, SUM, "")           \
    X(OFFLOADS_RUNNING, "luaweb_work_running", "kind=\"offload\"", GAUGE, SUM, "")     \
    X(FILES_RUNNING, "luaweb_work_running", "kind=\"file\"", GAUGE, SUM, "")           \
    X(HASHES_DONE, "luaweb_work_done_total", "kind=\"hash\"", COUNTER, SUM,            \
      "Work that the thread pool has done.")                                           \
    X(NAMES_DONE, "luaweb_work_done_total", "kind=\"name\"", COUNTER, SUM, "")         \
    X(OFFLOADS_DONE, "luaweb_work_done_total", "kind=\"offload\"", COUNTER, SUM, "")   \
    X(FILES_DONE, "luaweb_work_done_total", "kind=\"file\"", COUNTER, SUM, "")         \
    X(HASHES_REFUSED, "luaweb_work_refused_total", "kind=\"hash\"", COUNTER, SUM,      \
      "Work that found the line full.")                                                \
    X(NAMES_REFUSED, "luaweb_work_refused_total", "kind=\"name\"", COUNTER, SUM, "")   \
    X(OFFLOADS_REFUSED, "luaweb_work_refused_total", "kind=\"offload\"", COUNTER, SUM, \
      "")                                                                              \
    X(FILES_REFUSED, "luaweb_work_refused_total", "kind=\"file\"", COUNTER, SUM, "")   \
    X(TIMERS, "luaweb_timers", "", GAUGE, SUM,                                         \
      "Timers that run.")                                                              \
    X(JOBS, "luaweb_jobs_running", "", GAUGE, EACH,                                    \
      "Jobs that have not ended.")                                                     \
    X(JOBS_STARTED, "luaweb_jobs_started_total", "", COUNTER, SUM,                     \
      "Jobs started.")                                                                 \
    X(JOBS_FAILED, "luaweb_jobs_failed_total", "", COUNTER, SUM,                       \
      "Jobs that ended by an error, whether somebody waited for it or not.")           \
    X(HANDLER_ERRORS, "luaweb_uncaught_errors_total", "in=\"handler\"", COUNTER, SUM,  \
      "Errors that nobody caught.")                                                    \
    X(JOB_ERRORS, "luaweb_uncaught_errors_total", "in=\"job\"", COUNTER, SUM, "")      \
    X(LUA_BYTES, "luaweb_lua_memory_bytes", "", GAUGE, EACH,                           \
      "Memory that Lua holds, as of its last turn.")                                   \
    X(COLLECTIONS, "luaweb_lua_collections_total", "", COUNTER, SUM,                   \
      "Whole collections in idle time, or since memory was short.")                    \
    X(COLLECTING, "luaweb_lua_collecting_seconds_total", "", COUNTER, SUM,             \
      "Time spent on these.")                                                          \
    X(LONGEST_STEP, "luaweb_lua_longest_step_seconds", "", GAUGE, EACH,                \
      "The longest step of the collector in idle time.")                               \
    X(TRACES, "luaweb_jit_traces_total", "", COUNTER, SUM,                             \
      "Traces that the JIT has compiled.")                                             \
    X(TRACE_ABORTS, "luaweb_jit_aborts_total", "", COUNTER, SUM,                       \
      "Traces that the JIT has given up.")                                             \
    X(TRACE_FLUSHES, "luaweb_jit_flushes_total", "", COUNTER, SUM,                     \
      "Times that the JIT has thrown all traces away.")                                \
    X(TURNS, "luaweb_lua_turns_total", "", COUNTER, EACH,                              \
      "Turns in which Lua was entered.")                                               \
    X(LONGEST_TURN, "luaweb_longest_turn_seconds", "", GAUGE, EACH,                    \
      "The longest turn of the loop, in whole milliseconds.")                          \
    X(LOG_DROPPED, "luaweb_access_log_dropped_lines_total", "", COUNTER, SUM,          \
      "Lines that found no room in the access log's buffer.")                          \
    X(RELOADS, "luaweb_reloads_total", "result=\"ok\"", COUNTER, SUM,                  \
      "Reloads of the app.")                                                           \
    X(RELOADS_FAILED, "luaweb_reloads_total", "result=\"failed\"", COUNTER, SUM, "")   \
    X(STALLS, "luaweb_stalls_total", "", COUNTER, SUM,                                 \
      "Workers whose loop stood still for --stall-timeout.")                           \
    X(RESTARTS, "luaweb_worker_restarts_total", "", COUNTER, EACH,                     \
      "Workers that were replaced.")
/* clang-format on */

enum lw_metric {
#define METRIC(id, name, labels, kind, scope, help) LW_METRIC_##id,
    LW_METRICS_TABLE(METRIC)
#undef METRIC
    LW_METRICS
};

#endif
