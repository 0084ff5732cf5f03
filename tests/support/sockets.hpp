// The few socket calls that stand-ins for a network and crowds of clients need, on the loopback
// interface alone. Blocking; descriptors are the caller's to close.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace support {

int listen_on_loopback(std::uint16_t& port);  // any free port; throws std::system_error
int accept_from(int listener);                // without Nagle's delay; -1 when nobody is there
int connect_to_loopback(std::uint16_t port);  // without Nagle's delay; -1 when refused
std::string receive_some(int socket);         // empty at the end of the stream, or on an error
bool send_all(int socket, std::string_view bytes);
bool wait_readable(int socket, std::chrono::milliseconds budget);

}  // namespace support
