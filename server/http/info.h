/* info: what the server tells about itself and its operations, one function an answer. */
#ifndef SERVER_HTTP_INFO_H
#define SERVER_HTTP_INFO_H

#include "server/http/route.h"

route_answer info_live, info_ready, info_server, info_trace, info_logging, info_openapi,
    info_metrics;
route_answer info_model, info_model_ready, info_model_config, info_model_stats, info_all_stats,
    info_models, info_index;
route_answer info_empty_list, info_empty_object, info_not_supported;

#endif
