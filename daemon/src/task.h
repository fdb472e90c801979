// The coroutines of the HTTP adapter: tasks that wait on one io_context without holding a thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>  // Boost 1.74 needs it first.

namespace tessera {

using Executor = boost::asio::io_context::executor_type;

/// A coroutine of the adapter. g++ 12 compiles a co_await within a condition or a larger expression wrongly: it stands
/// alone, begins a variable, is assigned, or is returned.
template <class T>
using Task = boost::asio::awaitable<T, Executor>;
/// Makes an operation of Asio one that a Task can await.
using UseTask = boost::asio::use_awaitable_t<Executor>;

}  // namespace tessera
