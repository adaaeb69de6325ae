// jit, from the call of a jitted function to the device: the cache of traced programs.
#include <algorithm>
#include <cotan/debug.hpp>
#include <cotan/eager.hpp>
#include <cstdio>
#include <list>
#include <mutex>
#include <unordered_set>

#include "core/complex.hpp"
#include "core/effects.hpp"
#include "core/environment.hpp"
#include "core/recorder.hpp"
#include "lowering/pipeline.hpp"
#include "ops/collectives/axes.hpp"
#include "transforms/calls.hpp"

namespace cotan {

// The compile log -------------------------------------------------------------------------------

namespace {

struct CompileLog {
  std::mutex mutex;
  std::function<void(const std::string&)> sink;
  CompileLog() {
    if (environment::is_on("COTAN_LOG_COMPILES"))
      sink = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  }
};
CompileLog& compile_log() {
  static CompileLog& log = *new CompileLog;
  return log;
}
bool compile_log_enabled() {
  std::lock_guard lock(compile_log().mutex);
  return static_cast<bool>(compile_log().sink);
}
void write_compile_log(const std::string& line) {
  std::function<void(const std::string&)> sink;
  {
    std::lock_guard lock(compile_log().mutex);
    sink = compile_log().sink;
  }
  if (sink) sink(line);
}

}  // namespace

void log_compiles(std::function<void(const std::string&)> sink) {
  std::lock_guard lock(compile_log().mutex);
  compile_log().sink = std::move(sink);
}

// The cache -------------------------------------------------------------------------------------

namespace flat {

class JitCache {
 public:
  struct Entry {
    std::string key;
    Types types;
    ClosedJaxpr program;
    std::vector<bool> wide;    ///< arguments that the program takes in f64 though they are weak; empty: none
    bool has_effects = false;  ///< a token is the last operand and the last result
    std::shared_ptr<const void> payload;
  };
  std::mutex mutex;
  std::list<Entry> entries;  // a handful per function: a scan beats a hash table

  const Entry* find(const std::string& key, std::span<const Array> args) const {
    for (const Entry& e : entries)
      if (e.key == key && std::equal(e.types.begin(), e.types.end(), args.begin(), args.end(),
                                     [](const AbstractValue& t, const Array& a) { return t == a.aval(); }))
        return &e;
    return nullptr;
  }
  /// Why nothing fits, in words, against the entry that is nearest.
  std::string miss_reason(const std::string& key, const Types& types) const {
    if (entries.empty()) return "first call";
    const Entry& last = entries.back();
    if (last.types.size() != types.size())
      return fmt::format("{} array arguments, last time {}", types.size(), last.types.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (types[i] == last.types[i]) continue;
      if (types[i].dtype == last.types[i].dtype && types[i].shape == last.types[i].shape)
        return fmt::format("argument leaf {} is {}weakly typed now", i, types[i].weak_type ? "" : "not ");
      return fmt::format("argument leaf {} is {}, last time {}", i, types[i].str(), last.types[i].str());
    }
    return key != last.key ? "static arguments or tree structure differ" : "an older entry differs";
  }
};

std::shared_ptr<JitCache> make_jit_cache() { return std::make_shared<JitCache>(); }

namespace {

/// The same array may be given up in several places of the arguments: it is gone once.
void give_up(std::span<const Array> args, const std::vector<bool>& donated, Arrays& out) {
  std::unordered_set<const detail::Value*> gone;
  for (std::size_t i = 0; i < donated.size(); ++i)
    if (donated[i]) gone.insert(args[i].value().get());
  // An argument that is also a result lives on in the result alone.
  for (Array& a : out)
    if (const auto* c = gone.contains(a.value().get()) ? concrete(a) : nullptr)
      a = Array(std::make_shared<detail::Concrete>(c->aval, c->buffer));
  for (std::size_t i = 0; i < donated.size(); ++i)
    if (donated[i]) donate(args[i]);
}

/// The token comes last, so that the device of a call is that of the first argument.
CallProgram trace_with_token(const FlatFn& f, Types inputs, const std::string& name) {
  inputs.push_back(effects::first_token().aval());
  const effects::Threaded threaded(f);
  return trace_call(
      [&](std::span<const Array> in) {
        Arrays out = threaded(effects::with_token(in.back(), in.first(in.size() - 1)));
        std::rotate(out.begin(), out.begin() + 1, out.end());
        return out;
      },
      inputs, "jit", name);
}

/// The entry of a cache, or one that is good for this call alone.
struct Traced {
  const JitCache::Entry* entry = nullptr;  ///< entries stay where they are as long as the cache
  JitCache::Entry own = {};
};
void find_or_trace(Traced& out, JitCache& cache, const std::string& call, const FlatFn& f,
                   const std::function<std::shared_ptr<const void>()>& make_payload, std::span<const Array> args,
                   const JitOptions& options, const Paths& paths) {
  check_defined(args, "jit", paths);
  const std::string mapped = axes::environment(), key = mapped.empty() ? call : call + mapped;
  {
    std::lock_guard lock(cache.mutex);
    out.entry = cache.find(key, args);
  }
  if (out.entry) return;
  JitCache::Entry& traced = out.own;
  traced.types = types_of(args);
  std::string reason;
  if (compile_log_enabled()) {
    std::lock_guard lock(cache.mutex);
    reason = cache.miss_reason(key, traced.types);
  }
  {
    const recorder::Span span("trace", options.name);
    effects::Watched watched(f);
    CallProgram program = trace_call(with_names(watched, paths), traced.types, "jit", options.name);
    traced.has_effects = watched.found();
    if (traced.has_effects) program = trace_with_token(with_names(f, paths), traced.types, options.name);
    traced.program = {lowering::simplify(program.closed.jaxpr), program.closed.consts};
    if (std::find(program.wide.begin(), program.wide.end(), true) != program.wide.end())
      traced.wide = std::move(program.wide);
  }
  traced.payload = make_payload();
  traced.key = key;
  bool closed = true;  // a program over an enclosing transform's tracers is good for this call alone
  for (const Array& c : traced.program.consts) closed &= concrete(c) != nullptr;
  if (!reason.empty())
    write_compile_log(fmt::format("[jit] traced {} ({}): {} equations{}", options.name, reason,
                                  traced.program.jaxpr->equations.size(),
                                  closed ? "" : "; closes over a tracer, so it is not cached"));
  std::lock_guard lock(cache.mutex);
  out.entry = closed ? cache.find(key, args) : &traced;  // another thread may have been faster
  if (!out.entry) out.entry = &cache.entries.emplace_back(std::move(traced));
}

}  // namespace

Program jit_program(JitCache& cache, const std::string& key, const FlatFn& f,
                    const std::function<std::shared_ptr<const void>()>& make_payload,
                    std::shared_ptr<const void>& payload, std::span<const Array> args, const JitOptions& options,
                    const Paths& paths) {
  Traced traced;
  find_or_trace(traced, cache, key, f, make_payload, args, options, paths);
  payload = traced.entry->payload;
  return {traced.entry->program.jaxpr, traced.entry->program.consts};
}

Arrays jit(JitCache& cache, const std::string& key, const FlatFn& f,
           const std::function<std::shared_ptr<const void>()>& make_payload, std::shared_ptr<const void>& payload,
           std::span<const Array> args, const JitOptions& options, const Paths& paths) {
  if (is_jit_disabled()) {
    Arrays out = with_names(f, paths)(args);
    check_outputs_defined(out, "jit");
    payload = make_payload();
    return out;
  }
  Traced traced;
  find_or_trace(traced, cache, key, f, make_payload, args, options, paths);
  const JitCache::Entry* const entry = traced.entry;
  payload = entry->payload;
  const Arrays& consts = entry->program.consts;
  Arrays wide_args, with_consts;
  std::span<const Array> operands = args;
  if (!entry->wide.empty()) operands = wide_args = widened(args, entry->wide);
  if (!consts.empty()) operands = with_consts = concat(consts, operands);

  if (entry->has_effects) {
    if (operands.data() != with_consts.data() || with_consts.empty())
      with_consts.assign(operands.begin(), operands.end());
    with_consts.push_back(effects::take_token("jit"));
    operands = with_consts;
  }

  std::vector<bool> donated;
  if (!options.donate.empty()) {
    donated.resize(consts.size(), false);
    donated.insert(donated.end(), options.donate.begin(), options.donate.end());
    donated.resize(operands.size(), false);
  }
  Arrays out;
  const bool evaluate = is_eval_trace(current_trace()) && !debug_nans() && !debug_bounds() &&
                        std::all_of(operands.begin(), operands.end(), [](const Array& a) { return concrete(a); });
  if (evaluate) {  // nothing else is watching: straight to the device
    const recorder::Span span("call", options.name);
    out = run_on(common_backend(jit_p, operands), entry->program.jaxpr, operands, donated.empty() ? nullptr : &donated);
  } else {
    out = bind(jit_p, operands, {{"jaxpr", entry->program.jaxpr}, {"name", options.name}});
  }
  if (entry->has_effects) {
    effects::give_token(out.back());
    out.pop_back();
  }
  if (!options.donate.empty()) give_up(args, options.donate, out);
  return out;
}

}  // namespace flat
}  // namespace cotan
