// The worker's side of the driver's protocol (bench/README.md): a JSON object per line in, one per line out.
#include "worker.hpp"

#include <cblas.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "measure.hpp"

namespace bench {

namespace {

using Json = nlohmann::json;

class Worker {
 public:
  explicit Worker(std::string peer) : peer_(std::move(peer)) {}

  Json answer(const Json& request) {
    const std::string what = request.at("do");
    if (what == "hello") return {{"versions", {{"openblas", openblas_get_config()}}}};
    if (what == "setup") return setup(request.at("workload"));
    if (what == "time") {
      const Sample sample = time_calls(case_.call, request.at("seconds"), expected_);
      expected_ = std::min(expected_, sample.seconds);
      return {{"seconds", sample.seconds}, {"calls", sample.calls}};
    }
    if (what == "compile") return case_.compile ? Json{{"seconds", case_.compile()}} : Json::object();
    if (what == "memory") return case_.peak ? Json{{"peak_bytes", case_.peak()}} : Json::object();
    if (what == "device") {
      const auto seconds = case_.device ? case_.device() : std::nullopt;
      return seconds ? Json{{"device_seconds", *seconds}} : Json::object();
    }
    if (what == "release") {
      case_ = {};
      return Json::object();
    }
    return {{"error", "unknown request " + what}};
  }

 private:
  Json setup(const Json& row) {
    const Parameters parameters(row);
    const Maker* make = find_maker(peer_, parameters.kind());
    if (!make) return {{"missing", "no function of this kind"}};
    case_ = (*make)(parameters);
    expected_ = estimate_call(case_.call);
    return {{"seconds", expected_}, {"check", case_.check ? Json(case_.check()) : Json::array()}};
  }

  std::string peer_;
  Case case_;
  double expected_ = 0;
};

}  // namespace

int serve(const std::string& peer) {
  // Answers go to what stdout was; anything a library prints goes to stderr, and so to the driver's log.
  std::FILE* answers = fdopen(dup(STDOUT_FILENO), "w");
  dup2(STDERR_FILENO, STDOUT_FILENO);
  Worker worker(peer);
  for (std::string line; std::getline(std::cin, line);) {
    Json reply;
    try {
      reply = worker.answer(Json::parse(line));
    } catch (const Missing& e) {
      reply = {{"missing", e.what()}};
    } catch (const std::exception& e) {
      reply = {{"error", e.what()}};
    }
    std::fprintf(answers, "%s\n", reply.dump().c_str());
    std::fflush(answers);
  }
  return 0;
}

}  // namespace bench
