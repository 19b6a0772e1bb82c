/* tensors: the routes about resident tensors. */
#ifndef SERVER_HTTP_TENSORS_H
#define SERVER_HTTP_TENSORS_H

#include "server/http/route.h"

route_answer tensors_list, tensors_look, tensors_regions;

#endif
