/* info: the handlers of all routes that tell about the server and its operations. */
#ifndef SERVER_HTTP_INFO_H
#define SERVER_HTTP_INFO_H

#include "server/http/route.h"

/* Each fills call->reply. Errors are the client's. */
enum error_code info_live(struct call *call, struct error *error);
enum error_code info_ready(struct call *call, struct error *error);
enum error_code info_model_ready(struct call *call, struct error *error);
enum error_code info_empty_list(struct call *call, struct error *error);
enum error_code info_empty_object(struct call *call, struct error *error);
enum error_code info_server(struct call *call, struct error *error);
enum error_code info_model(struct call *call, struct error *error);
enum error_code info_model_config(struct call *call, struct error *error);
enum error_code info_model_stats(struct call *call, struct error *error);
enum error_code info_all_stats(struct call *call, struct error *error);
enum error_code info_models(struct call *call, struct error *error);
enum error_code info_index(struct call *call, struct error *error);
enum error_code info_trace(struct call *call, struct error *error);
enum error_code info_logging(struct call *call, struct error *error);
enum error_code info_openapi(struct call *call, struct error *error);
enum error_code info_metrics(struct call *call, struct error *error);
enum error_code info_not_supported(struct call *call, struct error *error);

#endif
