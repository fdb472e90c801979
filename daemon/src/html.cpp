#include "html.h"

#include "tessera/base/utf8.h"

namespace tessera {

std::string html_escaped(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char character : replaced_utf8(text)) {
    switch (character) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += character;
    }
  }
  return escaped;
}

std::string html_head(std::string_view title) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         html_escaped(title) +
         "</title>\n<style>\n"
         "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1e21}\n"
         "h1,h2,h3{line-height:1.2}h2{margin-top:2.5rem;border-bottom:1px solid #d8dce0}\n"
         "code,pre{font:14px/1.5 ui-monospace,monospace;background:#f4f5f7;border-radius:4px}\n"
         "code{padding:.1em .3em}pre{padding:.8em;overflow-x:auto}pre code{padding:0}\n"
         "table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.4em .6em;"
         "border-bottom:1px solid #e4e7ea}\n"
         ".quiet{color:#5f6770}\n"
         "</style>\n</head>\n<body>\n";
}

}  // namespace tessera
