#include "server/rules.h"

struct request_rules server_rules(const struct server *server)
{
    static const enum device devices[] = {DEVICE_AUTO, DEVICE_CPU, DEVICE_CUDA};
    static const enum bad_indices policies[] = {BAD_INDICES_DEVICE, BAD_INDICES_ERROR,
                                                BAD_INDICES_IGNORE};
    const struct config *config = &server->config;
    return (struct request_rules){.body_limit = config->max_body,
                                  .json_limit = config->max_json,
                                  .output_limit = config->max_output,
                                  .cuda_devices = gpus_available(&server->gpus),
                                  .device = devices[config->device],
                                  .bad_indices = policies[config->default_bad_indices]};
}
