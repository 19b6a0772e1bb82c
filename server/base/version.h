/* version: of this program. */
#ifndef SERVER_BASE_VERSION_H
#define SERVER_BASE_VERSION_H

#define TENSORD_NAME    "tensord"
#define TENSORD_VERSION "0.1.0"

#endif
