#include "http_reader.h"

#include <algorithm>
#include <array>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <cstring>
#include <limits>
#include <string>
#include <utility>  // Boost 1.74 needs it first.

#include "tessera/base/chunked_decoder.h"
#include "tessera/sdk/client_error.h"

namespace tessera {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

// Lists of exports are long; a server that goes on beyond is none of ours.
constexpr std::size_t kMaxHeadBytes = std::size_t{256} << 10U;
constexpr std::size_t kFirstReadBytes = std::size_t{16} << 10U;
// What the caller hears of progress in.
constexpr std::uint64_t kProgressBytes = std::uint64_t{8} << 20U;

[[noreturn]] void throw_bad_response(const std::string& why) {
  throw ClientError(ClientError::Kind::kBadResponse, "the server's response cannot be read: " + why);
}

[[noreturn]] void throw_no_memory(std::uint64_t size) {
  throw_bad_response("there is no memory for " + std::to_string(size) + " bytes");
}

Buffer allocate_body(std::uint64_t size) {
  try {
    return Buffer::allocate(static_cast<std::size_t>(size));
  } catch (const std::exception&) {
    throw_no_memory(size);
  }
}

// A body whose length is not known before it ends.
class GrowingBody {
 public:
  explicit GrowingBody(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  void append(std::string_view bytes) {
    if (bytes.empty()) {
      return;
    }
    std::memcpy(room(bytes.size()).data(), bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  // Room for so many bytes at the end.
  std::span<std::byte> room(std::size_t size) {
    if (size > max_bytes_ - size_) {
      throw_bad_response("it is longer than " + std::to_string(max_bytes_) + " bytes");
    }
    if (buffer_.size_bytes() - size_ < size) {
      Buffer larger = allocate_body(std::max(size_ + size, 2 * buffer_.size_bytes()));
      if (size_ != 0) {
        std::memcpy(larger.data(), buffer_.data(), size_);
      }
      buffer_ = std::move(larger);
    }
    return buffer_.bytes().subspan(size_, size);
  }
  // Room for some bytes at the end; for one more than may come, once no more may.
  std::span<std::byte> some_room() {
    if (size_ == max_bytes_) {
      return {&beyond_, 1};
    }
    const std::size_t wanted = std::max(buffer_.size_bytes() - size_, kFirstReadBytes);
    return room(static_cast<std::size_t>(std::min<std::uint64_t>(wanted, max_bytes_ - size_)));
  }
  void grow(std::size_t size) {
    static_cast<void>(room(size));
    size_ += size;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Buffer take() { return std::move(buffer_); }

 private:
  std::uint64_t max_bytes_;
  Buffer buffer_;
  std::size_t size_ = 0;
  std::byte beyond_{};
};

// Beast's parser without its storage of fields: it checks the grammar, and this picks what is asked for.
class ResponseParser final : public http::basic_parser<false> {
 public:
  explicit ResponseParser(HttpResponse& response) : response_(response) {
    header_limit(kMaxHeadBytes);
    body_limit(std::numeric_limits<std::uint64_t>::max());
  }
  [[nodiscard]] const std::string& coding() const { return coding_; }

 private:
  using Code = beast::error_code;
  using Text = beast::string_view;

  void on_response_impl(int code, Text /*reason*/, int /*version*/, Code& /*error*/) override {
    response_.status = code;
  }
  void on_field_impl(http::field name, Text name_text, Text value, Code& /*error*/) override {
    const auto keep = [&value](std::optional<std::string>& kept) { kept = std::string(value.data(), value.size()); };
    if (name == http::field::location) {
      keep(response_.location);
    } else if (name == http::field::retry_after) {
      keep(response_.retry_after);
    } else if ((name == http::field::content_encoding && !beast::iequals(value, "identity")) ||
               (name == http::field::transfer_encoding && !beast::iequals(value, "chunked"))) {
      coding_ = std::string(value.data(), value.size());
    } else if (beast::iequals(name_text, "tesseract-exports")) {
      keep(response_.exports);
    }
  }
  void on_header_impl(Code& /*error*/) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/, Code& /*error*/) override {}
  // Bodies are read elsewhere, and requests do not come here.
  std::size_t on_body_impl(Text /*text*/, Code& /*error*/) override { return 0; }
  void on_chunk_header_impl(std::uint64_t /*size*/, Text /*extensions*/, Code& /*error*/) override {}
  std::size_t on_chunk_body_impl(std::uint64_t /*remain*/, Text /*text*/, Code& /*error*/) override { return 0; }
  void on_finish_impl(Code& /*error*/) override {}
  void on_request_impl(http::verb /*verb*/, Text /*method*/, Text /*target*/, int /*version*/,
                       Code& /*error*/) override {}

  HttpResponse& response_;
  std::string coding_;
};

// Reads what one call of read_response() is asked for.
class Reading {
 public:
  Reading(ClientSocket& socket, const CallLimits& limits, std::uint64_t max_bytes, bool wants_arrays,
          const Progress& progress)
      : socket_(socket), limits_(limits), max_bytes_(max_bytes), wants_arrays_(wants_arrays), progress_(progress) {}

  std::optional<HttpResponse> read() {
    HttpResponse response;
    do {
      response = HttpResponse();
      if (!read_head(response)) {
        return std::nullopt;
      }
    } while (response.status < 200);
    return response;
  }

 private:
  // The head, and the body behind it. False if the connection ends before the first byte of all.
  bool read_head(HttpResponse& response) {
    ResponseParser parser(response);
    while (true) {
      if (begin_ != end_ && put(parser)) {
        break;
      }
      if (end_ == held_.size() && begin_ == 0) {
        held_.resize(2 * held_.size());
      } else if (begin_ != 0) {
        std::memmove(held_.data(), held_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
      }
      const std::size_t got = socket_.receive(std::span(held_).subspan(end_), limits_);
      if (got == 0) {
        if (!has_begun_) {
          return false;
        }
        throw_bad_response("the connection ended within its head");
      }
      end_ += got;
      has_begun_ = true;
    }
    if (response.status < 200) {
      return true;
    }
    read_body(parser, response);
    return true;
  }

  // Hands the parser what is held; true once the head is complete.
  bool put(ResponseParser& parser) {
    beast::error_code error;
    begin_ += parser.put({reinterpret_cast<const char*>(held_.data() + begin_), end_ - begin_}, error);
    if (error && error != http::error::need_more) {
      throw_bad_response("it is no HTTP (" + error.message() + ")");
    }
    return parser.is_header_done();
  }

  void read_body(const ResponseParser& parser, HttpResponse& response) {
    if (!parser.coding().empty()) {
      throw_bad_response("it is encoded as '" + parser.coding() + "', which was not asked for");
    }
    response.is_last = !parser.keep_alive();
    const bool has_body = response.status != 204 && response.status != 304;
    const auto length = parser.content_length();
    if (has_body && !parser.chunked() && length.has_value()) {
      read_announced(*length, response);
    } else {
      GrowingBody body(max_bytes_);
      if (has_body && parser.chunked()) {
        read_chunks(body);
      } else if (has_body) {
        read_to_the_end(body);
        response.is_last = true;
      }
      response.size_bytes = body.size();
      response.buffer = body.take();
    }
    // What came behind it belongs to no request.
    response.is_last = response.is_last || begin_ != end_;
  }

  void read_announced(std::uint64_t length, HttpResponse& response) {
    if (length > max_bytes_) {
      throw_bad_response("it announces " + std::to_string(length) + " bytes, and at most " +
                         std::to_string(max_bytes_) + " are read");
    }
    response.size_bytes = static_cast<std::size_t>(length);
    ArrivingText& text = begin_announced(response);
    std::uint64_t told = 0;
    while (!text.room().empty()) {
      if (read_more(text) == 0) {
        throw_bad_response("it ended after " + std::to_string(text.arrived_bytes()) + " of " + std::to_string(length) +
                           " bytes");
      }
      const std::uint64_t have = text.arrived_bytes();
      if (have - told >= kProgressBytes || have == length) {
        told = have;
        report(have, length);
      }
    }
  }

  // An error's text is shown as it is.
  ArrivingText& begin_announced(HttpResponse& response) const {
    const bool may_fold = wants_arrays_ && response.status < 300;
    try {
      return response.arrived.emplace(response.size_bytes,
                                      may_fold ? ArrivingText::Limits{} : ArrivingText::kFoldsNothing);
    } catch (const std::exception&) {
      throw_no_memory(response.size_bytes);
    }
  }

  // Adds what is held of the body, or else what comes next; 0 at the end of the connection.
  std::size_t read_more(ArrivingText& text) {
    if (begin_ != end_) {
      const std::size_t count = text.put(std::span(held_).subspan(begin_, end_ - begin_));
      begin_ += count;
      return count;
    }
    const std::size_t count = socket_.receive(text.room(), limits_);
    text.add(count);
    return count;
  }

  void read_chunks(GrowingBody& body) {
    using State = ChunkedDecoder::State;
    ChunkedDecoder decoder(max_bytes_);
    while (true) {
      while (begin_ != end_) {
        const ChunkedDecoder::Step step =
            decoder.next({reinterpret_cast<const char*>(held_.data() + begin_), end_ - begin_});
        body.append(step.data);
        begin_ += step.used;
        if (step.state == State::kDone) {
          return;
        }
        if (step.state == State::kTooLarge) {
          throw_bad_response("it is longer than " + std::to_string(max_bytes_) + " bytes");
        }
        if (step.state == State::kBad) {
          throw_bad_response("it is no HTTP (bad chunk)");
        }
      }
      begin_ = 0;
      end_ = socket_.receive(held_, limits_);
      if (end_ == 0) {
        throw_bad_response("it ended within a chunk, after " + std::to_string(body.size()) + " bytes");
      }
      report(body.size(), 0);
    }
  }

  void read_to_the_end(GrowingBody& body) {
    body.append({reinterpret_cast<const char*>(held_.data() + begin_), end_ - begin_});
    begin_ = end_;
    while (true) {
      const std::size_t got = socket_.receive(body.some_room(), limits_);
      if (got == 0) {
        if (socket_.was_refused()) {
          throw_bad_response("the connection broke after " + std::to_string(body.size()) + " bytes");
        }
        return;
      }
      body.grow(got);
      report(body.size(), 0);
    }
  }

  void report(std::uint64_t done, std::uint64_t total) const {
    if (progress_) {
      progress_(done, total);
    }
  }

  ClientSocket& socket_;
  const CallLimits& limits_;
  std::uint64_t max_bytes_;
  bool wants_arrays_;
  const Progress& progress_;
  std::vector<std::byte> held_ = std::vector<std::byte>(kFirstReadBytes);
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool has_begun_ = false;  // a byte has come, even if it is no longer held
};

}  // namespace

std::optional<HttpResponse> read_response(ClientSocket& socket, const CallLimits& limits, std::uint64_t max_bytes,
                                          bool wants_arrays, const Progress& progress) {
  return Reading(socket, limits, max_bytes, wants_arrays, progress).read();
}

}  // namespace tessera
