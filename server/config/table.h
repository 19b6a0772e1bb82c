/* config_table: the only list of settings. A row gives the setting's name, its kind, its default,
 * what is allowed, whether SIGHUP applies a change (else it needs a restart), and a line of help.
 * From it come struct config, the readers of file, environment and command line, --help,
 * --print-config and config/tensord.conf.
 *
 * Kinds: SIZE bytes (K, M, G, T), TIME kept in nanoseconds (ms, s, m, h), COUNT a number, BOOL,
 * WORD one of a list (kept as its position in it), TEXT a string.
 * RANGE(least, most) bounds a number; AUTO(least, most) also allows `auto`, kept as 0, or as
 * CONFIG_AUTO where least is 0.
 * WORDS("a", "b") and WORDS_OF(a table of X(ID, word)) list a WORD's words. */
#ifndef SERVER_CONFIG_TABLE_H
#define SERVER_CONFIG_TABLE_H

#include "proto/request/words.h"
#include "server/base/units.h"

#define CONFIG_TABLE(X)                                                                            \
    X(listen, TEXT, "127.0.0.1:8080", ANY, false,                                                  \
      "addresses with commas: host:port, [v6]:port, port (on 127.0.0.1), tls:host:port, "          \
      "unix:/path; port 0 picks one")                                                              \
    X(http_threads, COUNT, "auto", AUTO(1, 64), false,                                             \
      "threads that read requests and write answers; auto: 2, or 1 on one core")                   \
    X(workers, COUNT, "auto", AUTO(1, 256), false,                                                 \
      "threads that compute jobs that are not small; auto: one a core")                            \
    X(wide_workers, COUNT, "2", RANGE(1, 64), false,                                               \
      "workers that may use several cores for one large job")                                      \
    X(cores, COUNT, "auto", AUTO(1, 1024), false,                                                  \
      "cores to compute with; auto: what affinity and the cgroup's quota allow")                   \
    X(max_body, SIZE, "1G", RANGE(KIB, TIB), true, "largest body of a request, decompressed")      \
    X(max_json, SIZE, "64M", RANGE(KIB, 64 * GIB), true, "largest JSON text in a request")         \
    X(max_output, SIZE, "1G", RANGE(KIB, 2 * GIB - 1), true,                                       \
      "largest output; below 2G, because clients break there")                                     \
    X(memory, SIZE, "auto", AUTO(16 * MIB, 1024 * TIB), false,                                     \
      "memory for requests and answers; auto: half of what the cgroup or the machine has")         \
    X(memory_cache, SIZE, "auto", AUTO(MIB, 1024 * TIB), false,                                    \
      "most memory kept for reuse for a while after its request; auto: a quarter of `memory`")     \
    X(queue_jobs, COUNT, "256", RANGE(1, 1000000), true, "jobs that may wait for a worker")        \
    X(queue_bytes, SIZE, "auto", AUTO(MIB, 1024 * TIB), false,                                     \
      "bytes of requests that may wait for a worker; auto: as `memory`")                           \
    X(inline_bytes, SIZE, "256K", RANGE(0, 16 * MIB), true,                                        \
      "a job that reads and writes no more than this never waits in the queue")                    \
    X(tensor_memory, SIZE, "auto", AUTO(0, 1024 * TIB), false,                                     \
      "memory for the tensors that clients keep by name; auto: a quarter of what the cgroup or "   \
      "the machine has; 0: none are kept")                                                         \
    X(tensors_max, COUNT, "10000", RANGE(1, 1000000), false, "tensors that are kept at a time")    \
    X(tensor_ttl_max, TIME, "168h", RANGE(SEC, 10000 * HOUR), true,                                \
      "longest lease of a kept tensor, its ttl")                                                   \
    X(tensor_keys, COUNT, "1024", RANGE(1, 65536), false,                                          \
      "idempotency keys that a name remembers, each for 10 minutes")                               \
    X(tensor_in_url, BOOL, "false", ANY, true,                                                     \
      "a kept tensor that a request uses must be named in its URL, where a balancer sees it")      \
    X(tensor_dir, TEXT, "", ANY, false,                                                            \
      "folder of kept tensors, as safetensors files: loaded at start, written by snapshots; "      \
      "empty: nothing is written, tensors end with the process")                                   \
    X(tensor_load, WORD, "start", WORDS("start", "first_use"), false,                              \
      "when the files of tensor_dir are loaded: start: all, before the server is ready; "          \
      "first_use: each when it is first asked for")                                                \
    X(snapshot_interval, TIME, "5m", RANGE(0, 240 * HOUR), true,                                   \
      "a kept tensor that was written is in its file so much later; 0: when asked for, and at "    \
      "the end")                                                                                   \
    X(request_timeout, TIME, "30s", RANGE(MSEC, HOUR), true,                                       \
      "deadline of a request, from the last byte of its body")                                     \
    X(idle_timeout, TIME, "75s", RANGE(SEC, 24 * HOUR), false,                                     \
      "time after which an idle connection is closed; longer than a load balancer's, often 60s")   \
    X(max_connections, COUNT, "10000", RANGE(1, 1000000), false,                                   \
      "connections at a time; the next one gets 503")                                              \
    X(connection_max_age, TIME, "1h", RANGE(0, 240 * HOUR), true,                                  \
      "age at which a connection is closed with its next answer, so that load spreads anew; 0: "   \
      "never")                                                                                     \
    X(connection_max_requests, COUNT, "0", RANGE(0, UINT32_MAX), true,                             \
      "requests after which a connection is closed with its answer; 0: never")                     \
    X(header_timeout, TIME, "10s", RANGE(SEC, HOUR), true,                                         \
      "time in which a new connection must have sent the head of a request")                       \
    X(min_body_rate, SIZE, "16K", RANGE(0, GIB), true,                                             \
      "bytes a second: a client that sends its body slower is cut off")                            \
    X(min_send_rate, SIZE, "16K", RANGE(0, GIB), true,                                             \
      "bytes a second: a client that reads its answer slower is cut off; on a Unix socket "        \
      "one that takes nothing for idle_timeout")                                                   \
    X(rate_grace, TIME, "30s", RANGE(SEC, HOUR), true,                                             \
      "time over which min_body_rate and min_send_rate are counted")                               \
    X(drain_delay, TIME, "0", RANGE(0, HOUR), true,                                                \
      "time after SIGTERM in which the server, not ready, still serves, for load balancers to "    \
      "notice")                                                                                    \
    X(drain_timeout, TIME, "20s", RANGE(0, HOUR), true,                                            \
      "time after drain_delay in which accepted requests are finished")                            \
    X(device, WORD, "auto", WORDS_OF(DEVICE_TABLE), false,                                         \
      "where jobs run that do not ask for a device: auto, cpu, cuda")                              \
    X(cuda_devices, TEXT, "all", ANY, false,                                                       \
      "CUDA devices to use: all, or their numbers with commas")                                    \
    X(cuda_streams, COUNT, "2", RANGE(1, 16), false,                                               \
      "jobs that a CUDA device runs at a time, each on a stream of its own")                       \
    X(cuda_memory, SIZE, "auto", AUTO(MIB, 1024 * TIB), false,                                     \
      "memory to use on a CUDA device, shared by its streams; auto: nine tenths of what is free")  \
    X(cuda_threshold, SIZE, "16M", RANGE(0, 1024 * TIB), true,                                     \
      "a job that reads and writes less stays on the CPU")                                         \
    X(default_bad_indices, WORD, "device", WORDS_OF(BAD_INDICES_TABLE), true,                      \
      "what a bad index does by default: error, ignore, or device: ignored where cuda was asked "  \
      "for by name, an error where auto chose it")                                                 \
    X(tls_cert, TEXT, "", ANY, false,                                                              \
      "PEM file: certificate and chain, for addresses tls:host:port; SIGHUP reads it again")       \
    X(tls_key, TEXT, "", ANY, false,                                                               \
      "PEM file: the private key of tls_cert; SIGHUP reads it again")                              \
    X(tls_client_ca, TEXT, "", ANY, false,                                                         \
      "PEM file: authorities of clients' certificates, which are then required; SIGHUP reads it "  \
      "again")                                                                                     \
    X(tokens, TEXT, "", ANY, false,                                                                \
      "file of bearer tokens, name:token or name:sha256:<hex> a line, then limits such as "        \
      "rate=100/s bytes=10M/s; SIGHUP reads it again; empty: everybody may compute")               \
    X(protect_metrics, BOOL, "false", ANY, true, "/metrics needs a token too")                     \
    X(protect_info, BOOL, "false", ANY, true,                                                      \
      "everything but health and metrics needs a token, not only computing")                       \
    X(client_share, COUNT, "0", RANGE(0, 100), false,                                              \
      "percent of `memory` that one client (token, else address) may hold; 0: no bound")           \
    X(trusted_proxies, TEXT, "", ANY, false,                                                       \
      "networks whose X-Forwarded-For is believed, with commas: 10.0.0.0/8, ::1, unix")            \
    X(cors_origins, TEXT, "", ANY, false,                                                          \
      "origins of web pages that may call, with commas, or *; empty: none")                        \
    X(server_names, TEXT, "", ANY, false,                                                          \
      "names of this server, with commas, under which browsers on this machine may use kept "      \
      "tensors; addresses and localhost always are")                                               \
    X(base_path, TEXT, "", ANY, false, "path in front of every route, such as /tensord")           \
    X(console, BOOL, "true", ANY, true,                                                            \
      "a page at / that shows how the server is and tries operations; false: nothing is there")    \
    X(log_level, WORD, "info", WORDS("debug", "info", "warn", "error"), true,                      \
      "least level that is logged: debug, info, warn, error")                                      \
    X(log_requests, BOOL, "true", ANY, true, "log a line for each request")                        \
    X(log_buffer, SIZE, "1M", RANGE(16 * KIB, GIB), false,                                         \
      "log text held when its reader stalls; more is dropped and counted")

#endif
