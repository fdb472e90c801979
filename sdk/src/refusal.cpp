#include "refusal.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "response_value.h"
#include "tessera/base/utf8.h"
#include "tessera/sdk/client_error.h"

namespace tessera {
namespace {

constexpr std::size_t kShownBytes = 4000;
constexpr std::size_t kShownItems = 20;

const Value* find_member(const Value& value, std::string_view key) {
  return value.kind() == Value::Kind::kObject ? value.object().find(key) : nullptr;
}

std::string text_member(const Value& value, std::string_view key) {
  const Value* const member = find_member(value, key);
  return member != nullptr && member->kind() == Value::Kind::kText ? member->text() : std::string();
}

RefusedItem item_of(const Value& value) {
  RefusedItem item;
  item.type = text_member(value, "type");
  item.message = text_member(value, "msg");
  if (const Value* const place = find_member(value, "loc"); place != nullptr && place->kind() == Value::Kind::kList) {
    item.place = place->list();
  }
  if (const Value* const input = find_member(value, "input")) {
    item.input = *input;
  }
  if (const Value* const context = find_member(value, "ctx")) {
    item.context = *context;
  }
  return item;
}

std::string place_text(const List& place) {
  std::string text;
  for (const Value& part : place) {
    text += text.empty() ? "" : ".";
    text += part.kind() == Value::Kind::kText  ? part.text()
            : part.kind() == Value::Kind::kInt ? std::to_string(part.integer())
                                               : std::string("?");
  }
  return text;
}

// The items of a 422; nothing if the body is of another form.
std::optional<std::vector<RefusedItem>> items_of(std::string_view body) {
  try {
    const Value answer = read_plain_value(body);
    const Value* const detail = find_member(answer, "detail");
    if (detail == nullptr || detail->kind() != Value::Kind::kList) {
      return std::nullopt;
    }
    std::vector<RefusedItem> items;
    for (const Value& entry : detail->list()) {
      items.push_back(item_of(entry));
    }
    return items;
  } catch (const ClientError&) {
    return std::nullopt;
  }
}

std::string summary(const std::string& title, const std::vector<RefusedItem>& items) {
  std::string text =
      std::to_string(items.size()) + " validation error" + (items.size() == 1 ? "" : "s") + " for " + title;
  for (const RefusedItem& item : items) {
    if (&item - items.data() == static_cast<std::ptrdiff_t>(kShownItems)) {
      text += "\n… and " + std::to_string(items.size() - kShownItems) + " more";
      break;
    }
    text += "\n" + place_text(item.place) + "\n  " + item.message + " [type=" + item.type + "]";
  }
  return text;
}

}  // namespace

ClientError refusal_of(std::string_view endpoint, const HttpResponse& response) {
  if (response.status == 422) {
    if (std::optional<std::vector<RefusedItem>> items = items_of(response.text())) {
      std::string title = "endpoint " + std::string(endpoint);
      const std::string text = summary(title, *items);
      return {text, std::move(title), *std::move(items)};
    }
  }
  std::string text = "Error " + std::to_string(response.status) + " from Tesseract: ";
  const std::string_view shown = cut_utf8(response.text(), kShownBytes);
  append_replaced_utf8(text, shown);
  if (shown.size() != response.size_bytes) {
    text += "… (" + std::to_string(response.size_bytes) + " bytes)";
  }
  if (response.location) {
    text += " (it leads to " + replaced_utf8(*response.location) + ", which is not followed: give that URL instead)";
  }
  if (response.retry_after) {
    text += " (try again after " + replaced_utf8(*response.retry_after) + " s)";
  }
  return {ClientError::Kind::kStatus, text, response.status};
}

void throw_refusal(std::string_view endpoint, const HttpResponse& response) {
  throw refusal_of(endpoint, response);
}

}  // namespace tessera
