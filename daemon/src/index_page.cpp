#include "index_page.h"

#include <string_view>

#include "html.h"
#include "tessera/array/json_scanner.h"

namespace tessera {
namespace {

void append_member(std::string& json, std::string_view key, std::string_view value) {
  json += json.back() == '{' ? "" : ",";
  append_json_text(json, key);
  json += ':';
  append_json_text(json, value);
}

void append_entry(std::string& json, const IndexEntry& entry) {
  const std::string path = "/" + entry.name;
  json += '{';
  append_member(json, "name", entry.name);
  append_member(json, "version", entry.version);
  append_member(json, "description", entry.description);
  append_member(json, "url", path);
  json += ",\"endpoints\":[";
  for (const std::string& endpoint : entry.endpoints) {
    json += json.back() == '[' ? "" : ",";
    std::string route = path;
    append_json_text(json, route.append("/").append(endpoint));
  }
  json += ']';
  append_member(json, "openapi", path + "/openapi.json");
  append_member(json, "docs", path + "/docs");
  json += '}';
}

}  // namespace

std::string index_json(const std::vector<IndexEntry>& entries) {
  std::string json = "{";
  append_member(json, "server", "tessera " TESSERA_VERSION);
  json += ",\"tesseracts\":[";
  for (const IndexEntry& entry : entries) {
    json += json.back() == '[' ? "" : ",";
    append_entry(json, entry);
  }
  json += ']';
  append_member(json, "health", "/health");
  append_member(json, "metrics", "/metrics");
  return json + "}";
}

std::string index_html(const std::vector<IndexEntry>& entries) {
  std::string page = html_head("tessera");
  page +=
      "<h1>tessera</h1>\n<p>This server offers:</p>\n<table>\n<tr><th>Tesseract</th><th>Version</th><th>Meaning</th>"
      "<th>Endpoints</th></tr>\n";
  for (const IndexEntry& entry : entries) {
    const std::string name = html_escaped(entry.name);
    page.append("<tr><td><a href=\"/").append(name).append("/docs\">").append(name).append("</a></td><td>");
    page.append(html_escaped(entry.version)).append("</td><td>").append(html_escaped(entry.description));
    page += "</td><td>";
    for (const std::string& endpoint : entry.endpoints) {
      page.append("<code>").append(html_escaped(endpoint)).append("</code> ");
    }
    page += "</td></tr>\n";
  }
  return page +
         "</table>\n<p><a href=\"/health\">health</a> · <a href=\"/metrics\">metrics</a></p>\n"
         "<p class=\"quiet\">tessera " TESSERA_VERSION "</p>\n</body>\n</html>\n";
}

}  // namespace tessera
