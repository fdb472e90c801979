#include "docs_page.h"

#include <set>

#include "html.h"
#include "type_words.h"

namespace tessera {
namespace {

// Stands in the example until a request tells by what name this server is reached.
constexpr std::string_view kSomeAddress = "http://127.0.0.1:8000";
constexpr std::string_view kBeforeAddress = "<span id=\"url\">";

/// The schema of an object, at any depth of lists and dicts; nullptr for other types.
const Schema* schema_in(const Type& type) {
  const Type* inner = &type;
  while (inner->kind() == Type::Kind::kList || inner->kind() == Type::Kind::kDict) {
    inner = &inner->element();
  }
  return inner->kind() == Type::Kind::kObject ? &inner->schema() : nullptr;
}

void append_row(std::string& page, const Field& field) {
  page += "<tr><td><code>" + html_escaped(field.name) + "</code></td><td>" + html_escaped(words_for(field.type)) +
          "</td><td>" + html_escaped(field.description) + "</td><td>";
  if (field.is_required()) {
    page += "required";
  } else if (field.is_default_shown && field.default_value) {
    page += "<code>" + html_escaped(plain_json(*field.default_value)) + "</code>";
  } else {
    page += "<span class=\"quiet\">optional</span>";
  }
  page += "</td></tr>\n";
}

/// One table for a schema and one for each that it refers to.
void append_schema(std::string& page, const Schema& schema, const char* heading, std::set<std::string>& shown) {
  page += "<h3>" + html_escaped(heading) + "</h3>\n";
  if (!schema.description().empty()) {
    page += "<p>" + html_escaped(schema.description()) + "</p>\n";
  }
  page += "<table>\n<tr><th>Field</th><th>Type</th><th>Meaning</th><th>Default</th></tr>\n";
  for (const Field& field : schema.fields()) {
    append_row(page, field);
  }
  page += "</table>\n";
  if (schema.allows_extra_keys()) {
    page += "<p class=\"quiet\">Further keys are accepted.</p>\n";
  }
  for (const Field& field : schema.fields()) {
    const Schema* inner = schema_in(field.type);
    if (inner != nullptr && shown.insert(inner->name()).second) {
      append_schema(page, *inner, inner->name().c_str(), shown);
    }
  }
}

void append_endpoints(std::string& page, const TesseractDefinition& definition, bool debug) {
  page += "<h2>Endpoints</h2>\n<table>\n<tr><th>Route</th><th>Meaning</th></tr>\n";
  for (std::size_t i = 0; i < kEndpointCount; ++i) {
    const auto endpoint = static_cast<Endpoint>(i);
    if (definition.has(endpoint)) {
      page += "<tr><td><code>POST " + std::string(name_of(endpoint)) + "</code></td><td>" +
              html_escaped(definition.documentation(endpoint)) + "</td></tr>\n";
    }
  }
  if (debug) {
    page +=
        "<tr><td><code>POST test</code></td><td>Calls an endpoint and compares what comes with what is "
        "expected.</td></tr>\n";
  }
  page +=
      "<tr><td><code>GET <a href=\"health\">health</a></code></td><td>Says that this server is there.</td></tr>\n"
      "<tr><td><code>GET <a href=\"openapi.json\">openapi.json</a></code></td><td>This page for programs.</td></tr>\n"
      "</table>\n";
}

void append_example(std::string& page, const TesseractDefinition& definition) {
  page += "<h2>Example</h2>\n<pre><code>curl -H 'Content-Type: application/json' \\\n     -d '" +
          html_escaped(R"({"inputs":)" + example_json(definition.inputs()) + "}") + "' \\\n     ";
  page.append(kBeforeAddress).append(kSomeAddress);
  page +=
      "</span>/apply</code></pre>\n"
      "<p>An array is a number, a nested list, or an object of <code>shape</code>, <code>dtype</code> and "
      "<code>data</code>. Ask for arrays as base64 with <code>Accept: application/json+base64</code>, as files with "
      "<code>Accept: application/json+binref</code>, compressed with <code>; compression=lz4</code> behind it.</p>\n"
      "<script>document.getElementById('url').textContent="
      "location.href.replace(/[?#].*$/,'').replace(/\\/docs$/,'');</script>\n";
}

}  // namespace

std::string docs_page(const TesseractDefinition& definition, const RuntimeConfig& config) {
  const std::string name = config.name.value_or(definition.name());
  const std::string description = config.description.value_or(definition.description());
  std::string page = html_head(name + " - tessera");
  page += "<h1>" + html_escaped(name) + "</h1>\n";
  if (!description.empty()) {
    page += "<p>" + html_escaped(description) + "</p>\n";
  }
  page += "<p class=\"quiet\">Version " + html_escaped(config.version.value_or(definition.version())) + "</p>\n";
  append_endpoints(page, definition, config.debug);
  append_example(page, definition);
  std::set<std::string> shown;
  page += "<h2>Inputs</h2>\n";
  append_schema(page, definition.inputs(), "inputs", shown);
  page += "<h2>Outputs</h2>\n";
  append_schema(page, definition.outputs(), "outputs", shown);
  return page + "</body>\n</html>\n";
}

std::string with_address(std::string page, std::string_view address) {
  const std::size_t mark = page.find(kBeforeAddress);
  if (mark != std::string::npos) {
    page.replace(mark + kBeforeAddress.size(), kSomeAddress.size(), html_escaped(address));
  }
  return page;
}

}  // namespace tessera
