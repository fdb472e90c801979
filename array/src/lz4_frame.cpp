#include "tessera/array/lz4_frame.h"

#include <lz4frame.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <string>

namespace tessera {
namespace {

constexpr std::size_t kMaxSmallBytes = std::size_t{64} << 10;
constexpr std::array<std::byte, 4> kMagic{std::byte{0x04}, std::byte{0x22}, std::byte{0x4d}, std::byte{0x18}};

struct FreeContext {
  void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
};
using Context = std::unique_ptr<LZ4F_dctx, FreeContext>;

Context make_context() {
  LZ4F_dctx* context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) {
    throw std::bad_alloc();
  }
  return Context(context);
}

Error invalid(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

Error invalid_code(std::size_t code) {
  return invalid(std::string("lz4 frame is damaged: ") + LZ4F_getErrorName(code));
}

// liblz4 would skip skippable frames and read on behind them.
bool has_magic(std::span<const std::byte> frame) {
  return frame.size() >= kMagic.size() && std::equal(kMagic.begin(), kMagic.end(), frame.begin());
}

// Reads the frame header, and removes it from the front of `frame`.
Result<LZ4F_frameInfo_t> read_header(LZ4F_dctx* context, std::span<const std::byte>& frame) {
  if (!has_magic(frame)) {
    return invalid("lz4 frame of " + std::to_string(frame.size()) + " bytes does not begin with 04 22 4d 18");
  }
  LZ4F_frameInfo_t info{};
  std::size_t header_size = frame.size();
  const std::size_t code = LZ4F_getFrameInfo(context, &info, frame.data(), &header_size);
  if (LZ4F_isError(code) != 0) {
    return invalid_code(code);
  }
  frame = frame.subspan(header_size);
  return info;
}

}  // namespace

Buffer lz4_compress(std::span<const std::byte> bytes) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockSizeID = bytes.size() <= kMaxSmallBytes ? LZ4F_max64KB : LZ4F_max4MB;
  preferences.frameInfo.blockMode = LZ4F_blockIndependent;
  preferences.frameInfo.contentSize = bytes.size();
  const Buffer frame = Buffer::allocate(LZ4F_compressFrameBound(bytes.size(), &preferences));
  const std::size_t size =
      LZ4F_compressFrame(frame.data(), frame.size_bytes(), bytes.data(), bytes.size(), &preferences);
  if (LZ4F_isError(size) != 0) {
    // The room suffices, so only memory can be missing.
    throw std::bad_alloc();
  }
  return frame.first(size);
}

std::optional<std::uint64_t> lz4_content_size(std::span<const std::byte> frame) {
  const Context context = make_context();
  const auto info = read_header(context.get(), frame);
  if (!info || info->contentSize == 0) {
    return std::nullopt;
  }
  return info->contentSize;
}

Status lz4_decompress(std::span<const std::byte> frame, std::span<std::byte> into) {
  const Context context = make_context();
  TESSERA_ASSIGN_OR_RETURN(const LZ4F_frameInfo_t info, read_header(context.get(), frame));
  if (info.contentSize != 0 && info.contentSize != into.size()) {
    return invalid("lz4 frame announces " + std::to_string(info.contentSize) + " bytes, expected " +
                   std::to_string(into.size()));
  }
  LZ4F_decompressOptions_t options{};
  options.stableDst = 1;
  std::byte nowhere{};
  std::size_t done = 0;
  for (;;) {
    std::size_t read = frame.size();
    std::size_t written = into.size() - done;
    std::byte* out = into.empty() ? &nowhere : into.data() + done;
    const std::size_t code = LZ4F_decompress(context.get(), out, &written, frame.data(), &read, &options);
    if (LZ4F_isError(code) != 0) {
      return invalid_code(code);
    }
    frame = frame.subspan(read);
    done += written;
    if (code == 0) {
      break;
    }
    if (read == 0 && written == 0) {
      return frame.empty() ? invalid("lz4 frame ends early, after " + std::to_string(done) + " of " +
                                     std::to_string(into.size()) + " bytes")
                           : invalid("lz4 frame holds more than " + std::to_string(into.size()) + " bytes");
    }
  }
  if (done != into.size()) {
    return invalid("lz4 frame holds " + std::to_string(done) + " bytes, expected " + std::to_string(into.size()));
  }
  if (!frame.empty()) {
    return invalid(std::to_string(frame.size()) + " bytes follow the lz4 frame");
  }
  return {};
}

}  // namespace tessera
