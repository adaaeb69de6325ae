// When recorded operations run, and how often programs were compiled.
#pragma once
#include <cstdint>
#include <type_traits>
#include <utility>

namespace cotan::torch {

/// Counters of what was recorded and run.
struct RunStats {
  std::uint64_t recorded = 0;      ///< operations, ever
  std::uint64_t runs = 0;          ///< programs that ran
  std::uint64_t compilations = 0;  ///< of those, the ones that were not known
  std::uint64_t nodes = 0;         ///< operations and operands in programs that ran
};
/// The counters now.
RunStats run_stats();
/// Runs what is recorded and can still be read, on all threads, so that memory does not grow with the number of steps.
/// An optimizer's step() ends with it.
void mark_step();

namespace detail {
/// While it lives nothing runs on this thread.
class StepScope {
 public:
  StepScope();
  ~StepScope();
  StepScope(const StepScope&) = delete;
  void finish();  ///< runs what was recorded

 private:
  bool former_;
};
}  // namespace detail

/// f(), which runs as one program at its end: forward, backward and update. Reading a value inside raises, and names
/// the line; what the function gives can be read behind it. Inner calls are part of the outer one.
///
///     const torch::Tensor loss = torch::step([&] {
///       opt.zero_grad();
///       torch::Tensor l = loss_of(net(x), y);
///       l.backward();
///       opt.step();
///       return l;
///     });
template <class F>
auto step(F&& f) {
  detail::StepScope scope;
  if constexpr (std::is_void_v<std::invoke_result_t<F&&>>) {
    std::forward<F>(f)();
    scope.finish();
  } else {
    auto out = std::forward<F>(f)();
    scope.finish();
    return out;
  }
}

}  // namespace cotan::torch
