// A server that hands each body back and does nothing else: what Boost.Beast and Asio alone cost.
//
//   tessera_beast_echo PORT THREADS
//
// Prints a line once it listens; runs until it is killed.

#include <utility>  // Boost 1.74 needs it first.
//
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Socket = asio::ip::tcp::socket;

asio::awaitable<void> serve(Socket socket) {
  socket.set_option(asio::ip::tcp::no_delay(true));
  boost::beast::flat_buffer buffer;
  buffer.reserve(65536);
  while (true) {
    http::request<http::string_body> request;
    co_await http::async_read(socket, buffer, request, asio::use_awaitable);
    http::response<http::string_body> response(http::status::ok, request.version());
    response.set(http::field::content_type, "application/json");
    response.body() = std::move(request.body());
    response.prepare_payload();
    co_await http::async_write(socket, response, asio::use_awaitable);
  }
}

asio::awaitable<void> accept(asio::io_context& io, asio::ip::tcp::acceptor& acceptor) {
  while (true) {
    Socket socket = co_await acceptor.async_accept(asio::use_awaitable);
    // A client that leaves ends its coroutine by an exception, which nobody need hear of.
    asio::co_spawn(io, serve(std::move(socket)), asio::detached);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 3) {
      std::fprintf(stderr, "usage: tessera_beast_echo PORT THREADS\n");
      return 2;
    }
    asio::io_context io;
    const auto port = static_cast<unsigned short>(std::stoi(argv[1]));
    asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), port});
    asio::co_spawn(io, accept(io, acceptor), asio::detached);
    std::puts("listening");
    std::fflush(stdout);
    std::vector<std::thread> threads;
    for (int i = 1; i < std::stoi(argv[2]); ++i) {
      threads.emplace_back([&io] { io.run(); });
    }
    io.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tessera_beast_echo: %s\n", error.what());
    return 1;
  }
  return 0;
}
