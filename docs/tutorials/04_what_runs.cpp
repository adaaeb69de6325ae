// Tutorial 4: what runs. jit makes one native program of a function; explain shows it.
#include <cassert>
#include <cotan/cotan.hpp>
#include <iostream>

namespace ct = cotan;
namespace np = cotan::numpy;

int main() {
  const auto softmax = [](ct::Array x) {
    const ct::Array e = np::exp(x - np::max(x, -1, true));
    return e / np::sum(e, -1, true);
  };
  const ct::Array x = np::arange(4096, ct::f32).reshape({64, 64}) / 4096.0;

  // Seven operations, one kernel: three passes over a row that stays in the cache, and no temporary arrays.
  const ct::Explanation e = ct::explain(ct::jit(softmax), x);
  std::cout << e.text() << "\n";
  assert(e.kernels == 1 && e.routines == 0 && e.temporary_bytes == 0);

  // Views are index arithmetic: they move nothing.
  const auto views = [](ct::Array t) { return np::flip(t.T().reshape({32, 128}), 1) * 2.0 + 1.0; };
  assert(ct::explain(ct::jit(views), x).kernels == 1);

  // Large matrix products are routines; what is around them is fused.
  const auto layer = [](ct::Array a, ct::Array w, ct::Array b) { return np::maximum(np::matmul(a, w) + b, 0.0); };
  const ct::Array w = np::ones({64, 256}), b = np::zeros({256});
  const ct::Explanation l = ct::explain(ct::jit(layer), x, w, b);
  std::cout << l.text() << "\n";
  assert(l.routines == 1 && l.kernels == 1);

  // Everything that led there can be read: the traced program, what each pass made of it (text() has a row for each
  // that changed something), LLVM's code and the assembly.
  for (const auto& [name, program] : l.passes)
    std::cout << "after '" << name << "': " << program.size() << " characters\n";
  assert(l.llvm_ir.find("define") != std::string::npos && !l.assembly.empty());

  // What took how long: tracing, compiling, calls; on a GPU every kernel. Profile("file.json") writes a trace for
  // https://ui.perfetto.dev as well, and COTAN_TRACE=file.json does so for any program.
  ct::Profile profile;
  for (int i = 0; i < 3; ++i) {
    ct::ProfileSpan span("my step");
    (void)ct::jit(layer)(x, w, b);
  }
  profile.stop();
  std::cout << profile.text() << "\n";
  assert(profile.text().find("my step") != std::string::npos);

  // Results do not depend on the number of threads, and a donated argument's memory becomes the result's.
  ct::set_num_threads(1);
  const ct::Array once = ct::jit(softmax)(x);
  ct::set_num_threads(2);
  assert(np::array_equal(once, ct::jit(softmax)(x)));
  const auto increment = ct::jit([](ct::Array t) { return t + 1.0; }, {.donate = {0}});
  ct::Array counter = np::zeros({1 << 16});
  const auto before = ct::memory_stats().allocations;
  for (int i = 0; i < 10; ++i) counter = increment(counter);
  assert(counter[0].item<float>() == 10.0f);
  std::cout << "allocations of ten steps in place: " << ct::memory_stats().allocations - before << "\n";
}
