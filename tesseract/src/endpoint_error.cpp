#include "tessera/tesseract/endpoint_error.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <typeinfo>
#include <utility>

#include "dotted_name.h"
#include "tessera/array/value.h"

namespace tessera {
namespace {

struct PythonException {
  std::string_view name;
  std::string_view base;        // empty for the root
  std::string_view other_base;  // of the one class that has two
};

// Python 3.11's built-in exceptions, sorted by name.
constexpr auto kPythonExceptions = std::to_array<PythonException>({
    {"ArithmeticError", "Exception", ""},
    {"AssertionError", "Exception", ""},
    {"AttributeError", "Exception", ""},
    {"BaseException", "", ""},
    {"BaseExceptionGroup", "BaseException", ""},
    {"BlockingIOError", "OSError", ""},
    {"BrokenPipeError", "ConnectionError", ""},
    {"BufferError", "Exception", ""},
    {"BytesWarning", "Warning", ""},
    {"ChildProcessError", "OSError", ""},
    {"ConnectionAbortedError", "ConnectionError", ""},
    {"ConnectionError", "OSError", ""},
    {"ConnectionRefusedError", "ConnectionError", ""},
    {"ConnectionResetError", "ConnectionError", ""},
    {"DeprecationWarning", "Warning", ""},
    {"EOFError", "Exception", ""},
    {"EncodingWarning", "Warning", ""},
    {"Exception", "BaseException", ""},
    {"ExceptionGroup", "BaseExceptionGroup", "Exception"},
    {"FileExistsError", "OSError", ""},
    {"FileNotFoundError", "OSError", ""},
    {"FloatingPointError", "ArithmeticError", ""},
    {"FutureWarning", "Warning", ""},
    {"GeneratorExit", "BaseException", ""},
    {"ImportError", "Exception", ""},
    {"ImportWarning", "Warning", ""},
    {"IndentationError", "SyntaxError", ""},
    {"IndexError", "LookupError", ""},
    {"InterruptedError", "OSError", ""},
    {"IsADirectoryError", "OSError", ""},
    {"KeyError", "LookupError", ""},
    {"KeyboardInterrupt", "BaseException", ""},
    {"LookupError", "Exception", ""},
    {"MemoryError", "Exception", ""},
    {"ModuleNotFoundError", "ImportError", ""},
    {"NameError", "Exception", ""},
    {"NotADirectoryError", "OSError", ""},
    {"NotImplementedError", "RuntimeError", ""},
    {"OSError", "Exception", ""},
    {"OverflowError", "ArithmeticError", ""},
    {"PendingDeprecationWarning", "Warning", ""},
    {"PermissionError", "OSError", ""},
    {"ProcessLookupError", "OSError", ""},
    {"RecursionError", "RuntimeError", ""},
    {"ReferenceError", "Exception", ""},
    {"ResourceWarning", "Warning", ""},
    {"RuntimeError", "Exception", ""},
    {"RuntimeWarning", "Warning", ""},
    {"StopAsyncIteration", "Exception", ""},
    {"StopIteration", "Exception", ""},
    {"SyntaxError", "Exception", ""},
    {"SyntaxWarning", "Warning", ""},
    {"SystemError", "Exception", ""},
    {"SystemExit", "BaseException", ""},
    {"TabError", "IndentationError", ""},
    {"TimeoutError", "OSError", ""},
    {"TypeError", "Exception", ""},
    {"UnboundLocalError", "NameError", ""},
    {"UnicodeDecodeError", "UnicodeError", ""},
    {"UnicodeEncodeError", "UnicodeError", ""},
    {"UnicodeError", "ValueError", ""},
    {"UnicodeTranslateError", "UnicodeError", ""},
    {"UnicodeWarning", "Warning", ""},
    {"UserWarning", "Warning", ""},
    {"ValueError", "Exception", ""},
    {"Warning", "Exception", ""},
    {"ZeroDivisionError", "ArithmeticError", ""},
});
static_assert(std::ranges::is_sorted(kPythonExceptions, {}, &PythonException::name));

const PythonException* find_exception(std::string_view name) {
  // Python keeps two older names of OSError.
  if (name == "EnvironmentError" || name == "IOError") {
    name = "OSError";
  }
  const auto* found = std::ranges::lower_bound(kPythonExceptions, name, {}, &PythonException::name);
  return found != kPythonExceptions.end() && found->name == name ? found : nullptr;
}

bool is_or_derives_from(const PythonException& exception, std::string_view expected) {
  if (exception.name == expected) {
    return true;
  }
  return std::ranges::any_of(std::array{exception.base, exception.other_base}, [expected](std::string_view base) {
    const PythonException* found = find_exception(base);
    return found != nullptr && is_or_derives_from(*found, expected);
  });
}

EndpointFailure failure(std::string_view kind, std::string text) {
  return {.kind = std::string(kind), .text = std::move(text), .status = {}, .is_output_fault = false};
}

EndpointFailure failure(std::string_view kind, const std::exception& exception) {
  return failure(kind, std::string(exception.what()));
}

// Its value cannot be told, its type can. Requires: called in a catch block.
EndpointFailure unknown_failure() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) {
    return failure("RuntimeError", std::string("an exception of unknown type"));
  }
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr),
                                                    std::free);
  return failure("RuntimeError", std::string("an exception of type ") + (name ? name.get() : type->name()));
}

}  // namespace

EndpointFailure current_failure() {
  try {
    throw;
  } catch (const EndpointError& error) {
    EndpointFailure named = failure(error.kind(), error);
    // A status that says "all is well", or none that HTTP knows, would hide the failure.
    if (const int status = error.status().value_or(0); status >= 400 && status <= 599) {
      named.status = status;
    }
    return named;
  } catch (const ValueError& error) {
    return failure("ValueError", error);
  } catch (const std::invalid_argument& error) {
    return failure("ValueError", error);
  } catch (const std::domain_error& error) {
    return failure("ValueError", error);
  } catch (const std::length_error& error) {
    return failure("ValueError", error);
  } catch (const std::out_of_range& error) {
    return failure("IndexError", error);
  } catch (const std::overflow_error& error) {
    return failure("OverflowError", error);
  } catch (const std::bad_alloc& error) {
    return failure("MemoryError", error);
  } catch (const std::system_error& error) {  // std::filesystem::filesystem_error is one
    return failure("OSError", error);
  } catch (const std::exception& error) {
    return failure("RuntimeError", error);
  } catch (const char* text) {
    return failure("RuntimeError", text != nullptr ? text : "an exception without a text");
  } catch (const std::string& text) {
    return failure("RuntimeError", text);
  } catch (...) {
    return unknown_failure();
  }
}

bool is_kind_of(std::string_view kind, std::string_view expected) {
  kind = last_part(kind);
  expected = last_part(expected);
  const PythonException* known = find_exception(kind);
  const PythonException* known_expected = find_exception(expected);
  if (known == nullptr) {
    // A class that Python does not have: only its own name, and the roots of all errors, can be meant.
    return kind == expected || expected == "Exception" || expected == "BaseException";
  }
  return known_expected != nullptr && is_or_derives_from(*known, known_expected->name);
}

bool is_builtin_exception(std::string_view name) {
  return find_exception(name) != nullptr;
}

}  // namespace tessera
