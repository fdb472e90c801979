// P1 to P5: what a handle leads to, and what the driver says to handles that lead nowhere.
#include <cstring>
#include <stdexcept>

#include "probes/probe.h"

namespace tessera::gpu_kit {
namespace {

// What opening gives; closed again at once.
std::string open_text(const Handle& handle) {
  Address address = 0;
  const Code code = driver().cuIpcOpenMemHandle_v2(&address, handle, 1);
  if (code != 0) {
    return code_text(code);
  }
  const std::string text = "success, and the bytes are " + look(address);
  driver().cuIpcCloseMemHandle(address);
  return text;
}

// Attributes are of up to 64 bits.
std::uint64_t attribute(int number, Address address) {
  std::uint64_t value = 0;
  need(driver().cuPointerGetAttribute(&value, number, address), "cuPointerGetAttribute");
  return value;
}

}  // namespace

void probe_open_errors(Rows& rows) {
  enter_gpu();
  const Peer peer;
  start(peer);
  const PeerExport freed = export_from(peer, kPage, 3);
  need(peer.ask({.order = Order::kFree, .a = freed.address}).code, "cuMemFree");
  rows.answer("P1 open after the exporter freed", open_text(freed.handle));

  Peer mortal;
  start(mortal);
  const PeerExport gone = export_from(mortal, kPage, 4);
  mortal.kill();
  rows.answer("P1 open after the exporter ended", open_text(gone.handle));

  Handle garbage = freed.handle;
  std::memset(garbage.bytes.data(), 0xA5, garbage.bytes.size());
  rows.answer("P1 open of bytes that are no handle", open_text(garbage));
  rows.answer("P1 open of zeros", open_text(Handle{}));
}

void probe_pid_collision(Rows& rows) {
  enter_gpu();
  const Peer plain;
  start(plain);
  rows.answer("P2 other process, one PID namespace", open_text(export_from(plain, kPage, 5).handle));

  // Each is the first process of its namespace.
  const Peer first({.environment = {}, .has_own_pid_namespace = true});
  const Peer second({.environment = {}, .has_own_pid_namespace = true});
  if (!first.is_running() || !second.is_running()) {
    rows.skipped("P2 equal numbers in two PID namespaces", "this machine lets no namespace be made");
    return;
  }
  start(first);
  start(second);
  const PeerExport exported = export_from(first, kPage, 6);
  const Reply opened = second.ask({.order = Order::kOpen, .bytes = exported.handle.bytes});
  const std::uint64_t first_pid = first.ask({.order = Order::kPid}).value;
  const std::uint64_t second_pid = second.ask({.order = Order::kPid}).value;
  rows.answer(
      "P2 processes " + std::to_string(first_pid) + " and " + std::to_string(second_pid) + " of two PID namespaces",
      code_text(opened.code));
  rows.answer("P2 exporter " + std::to_string(first_pid) + " in a namespace, opened outside of it",
              open_text(exported.handle));
}

void probe_small_allocations(Rows& rows) {
  enter_gpu();
  const Peer peer;
  start(peer);
  const PeerExport first = export_from(peer, 4096, 7);
  const PeerExport second = export_from(peer, 4096, 8);
  const std::uint64_t distance = second.address - first.address;
  Address opened = 0;
  need(driver().cuIpcOpenMemHandle_v2(&opened, first.handle, 1), "cuIpcOpenMemHandle");
  Address base = 0;
  std::size_t size_bytes = 0;
  need(driver().cuMemGetAddressRange_v2(&base, &size_bytes, opened), "cuMemGetAddressRange");
  rows.answer("P3 a handle of 4096 bytes opens at",
              std::string(look(opened) == "7" ? "the allocation" : "another byte (" + look(opened) + ")") +
                  ", offset " + std::to_string(opened % kPage) + " in its page; the range is " +
                  std::to_string(size_bytes) + " bytes");
  rows.answer("P3 the neighbour " + std::to_string(distance) + " bytes on",
              distance < kPage ? "its bytes read as " + look(opened + distance) + " (8 is the neighbour's)"
                               : "not in the same page");
  driver().cuIpcCloseMemHandle(opened);
}

void probe_second_export(Rows& rows) {
  enter_gpu();
  const Peer peer;
  start(peer);
  const PeerExport exported = export_from(peer, kPage, 9);
  Address opened = 0;
  need(driver().cuIpcOpenMemHandle_v2(&opened, exported.handle, 1), "cuIpcOpenMemHandle");
  Handle again;
  rows.answer("P4 handle of an imported pointer", code_text(driver().cuIpcGetMemHandle(&again, opened)));
  rows.answer("P4 attributes of an imported pointer", "10 (legacy IPC) is " + std::to_string(attribute(10, opened)) +
                                                          ", 14 (handle types) is " +
                                                          std::to_string(attribute(14, opened)));
  driver().cuIpcCloseMemHandle(opened);
}

void probe_second_context(Rows& rows) {
  enter_gpu();
  const auto create = reinterpret_cast<Code (*)(void**, unsigned, int)>(find_call("cuCtxCreate_v2"));
  const auto destroy = reinterpret_cast<Code (*)(void*)>(find_call("cuCtxDestroy_v2"));
  if (create == nullptr || destroy == nullptr) {
    rows.skipped("P5 open in a second context", "the driver makes no context beside the primary one");
    return;
  }
  const Peer peer;
  start(peer);
  const PeerExport exported = export_from(peer, kPage, 10);
  Address first = 0;
  need(driver().cuIpcOpenMemHandle_v2(&first, exported.handle, 1), "cuIpcOpenMemHandle");
  void* context = nullptr;
  need(create(&context, 0, 0), "cuCtxCreate");
  rows.answer("P5 open in a second context while it is open in the first", open_text(exported.handle));
  destroy(context);
  driver().cuIpcCloseMemHandle(first);
}

}  // namespace tessera::gpu_kit
