/* info: the handlers of all routes that tell about the server and its operations. */
#ifndef SERVER_INFO_H
#define SERVER_INFO_H

#include "server/route.h"

/* Each fills call->reply. Errors are the client's. */
enum error_code info_live(struct call *call, struct error *error);
enum error_code info_ready(struct call *call, struct error *error);
enum error_code info_model_ready(struct call *call, struct error *error);
enum error_code info_empty_list(struct call *call, struct error *error);
enum error_code info_empty_object(struct call *call, struct error *error);
enum error_code info_not_supported(struct call *call, struct error *error);

#endif
