#include "control/golden.hpp"

#include <cotan/io.hpp>

namespace control {

namespace {

/// A case is one list of numbers: kinds, each with its leaves, each with kind of dtype, rank, shape and
/// elements.
class Reader {
 public:
  explicit Reader(std::vector<double> numbers) : numbers_(std::move(numbers)) {}
  bool done() const { return at_ == numbers_.size(); }
  std::int64_t integer() { return static_cast<std::int64_t>(numbers_.at(at_++)); }
  GoldenLeaf leaf() {
    GoldenLeaf out;
    out.kind = static_cast<GoldenLeaf::Kind>(integer());
    out.shape.resize(static_cast<std::size_t>(integer()));
    std::int64_t n = 1;
    for (std::int64_t& d : out.shape) n *= d = integer();
    for (; n > 0; --n) out.values.push_back(numbers_.at(at_++));
    return out;
  }

 private:
  std::vector<double> numbers_;
  std::size_t at_ = 0;
};

Golden parse(const Array& numbers) {
  static const std::vector<std::string> kinds{"out", "jvp", "jvp0", "grad", "vmap", "vmap0", "vmap_grad", "jvp_grad"};
  Golden out;
  for (Reader in(numbers.to_vector<double>()); !in.done();) {
    std::vector<GoldenLeaf>& leaves = out[kinds.at(static_cast<std::size_t>(in.integer()))];
    for (std::int64_t n = in.integer(); n > 0; --n) leaves.push_back(in.leaf());
  }
  return out;
}

}  // namespace

const Golden* golden(const std::string& name) {
  // Host data only: a test must leave as many buffers as it found.
  static const std::map<std::string, Golden> all = [] {
    std::map<std::string, Golden> out;
    for (const auto& [key, numbers] : ct::load_npz(COTAN_SOURCE_DIR "/tests/golden/control.npz"))
      out[key] = parse(numbers);
    return out;
  }();
  const auto at = all.find(name);
  return at == all.end() ? nullptr : &at->second;
}

testing::AssertionResult agrees(const Arrays& got, const std::vector<GoldenLeaf>& want, ct::DType floats,
                                double tolerance) {
  Arrays expected;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const bool integral = i < got.size() && ct::is_integer(got[i].dtype());
    const ct::DType dtype = want[i].kind == GoldenLeaf::floating  ? floats
                            : want[i].kind == GoldenLeaf::boolean ? ct::bool_
                            : integral                            ? got[i].dtype()
                                                                  : ct::i64;
    expected.push_back(Array::from_host(want[i].values, want[i].shape).astype(dtype));
  }
  return close(got, expected, tolerance);
}

}  // namespace control
