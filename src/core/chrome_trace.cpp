#include "core/chrome_trace.hpp"

#include <fstream>
#include <map>

#include "core/error.hpp"

namespace cotan {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      out += c;
  }
  return out + '"';
}

/// Where an event is drawn: threads of the host are rows of process 1.
struct Row {
  int process, thread;
};
class Rows {
 public:
  Row of(const std::string& track) {
    const auto [at, added] = rows_.try_emplace(track);
    if (!added) return at->second;
    const bool host = track.starts_with("host");
    at->second = host ? Row{1, ++threads_} : Row{++processes_, 1};
    if (!host || threads_ == 1) name("process_name", at->second, host ? "host" : track);
    name("thread_name", at->second, host ? track : "kernels");
    return at->second;
  }
  std::string names;

 private:
  void name(std::string_view what, Row row, std::string_view text) {
    names += fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}},{})", what, row.process,
                         row.thread, quoted(text), '\n');
  }
  std::map<std::string, Row> rows_;
  int processes_ = 1, threads_ = 0;
};

}  // namespace

void write_chrome_trace(const std::string& file, const std::vector<ProfileEvent>& events,
                        const std::vector<std::string>& notes) {
  Rows rows;
  std::string lines;
  for (const ProfileEvent& e : events) {
    const Row row = rows.of(e.track);
    std::string details;
    for (const auto& [name, value] : e.details)
      details += fmt::format("{}{}:{}", details.empty() ? "" : ",", quoted(name), value);
    lines +=
        fmt::format(R"(,{}{{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{{}}}}})",
                    '\n', quoted(e.name), quoted(e.category), row.process, row.thread,
                    static_cast<double>(e.start_ns) * 1e-3, static_cast<double>(e.duration_ns) * 1e-3, details);
  }
  std::string said;
  for (const std::string& n : notes) said += (said.empty() ? "" : ",") + quoted(n);
  std::ofstream out(file, std::ios::binary);
  // The list of events begins with one of no length, so that every other one can follow a comma.
  out << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"notes\":[" << said << "]},\"traceEvents\":[\n"
      << rows.names << R"({"ph":"I","name":"start","cat":"profile","pid":1,"tid":1,"ts":0,"s":"g"})" << lines
      << "\n]}\n";
  out.close();
  if (!out) raise<IoError>("[profile] the trace '{}' cannot be written; see whether its folder is there.", file);
}

}  // namespace cotan
