#include "server/rules.h"

struct request_rules server_rules(const struct server *server)
{
    const struct config *config = &server->config;
    return (struct request_rules){.body_limit = config->max_body,
                                  .json_limit = config->max_json,
                                  .output_limit = config->max_output,
                                  .cuda_devices = gpus_available(&server->gpus),
                                  .device = (enum device)config->device,
                                  .bad_indices = (enum bad_indices)config->default_bad_indices};
}
