// Values, gradients, dtypes and shapes of torch's ops against PyTorch's (tools/golden/torch_ops.py): one gtest per
// case, with operands that are contiguous, and of f32 with operands that are strided views too.
#include "torch/ops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cotan/cotan.hpp>

#include "cases/compare.hpp"

namespace torch_ops {

namespace {

namespace np = cotan::numpy;
using cases::Case;
using cases::Json;
using cotan::Array;
using cotan::DType;
using cotan::Shape;

std::map<std::string, Function>& table() {
  static std::map<std::string, Function> all;
  return all;
}

/// What PyTorch gave for the cases of one file.
class Golden {
 public:
  explicit Golden(const std::string& family) {
    for (const auto& [name, array] : cotan::load_npz(COTAN_SOURCE_DIR "/tests/golden/torch/" + family + ".npz"))
      if (name == "index") {
        const auto text = array.to_vector<std::uint8_t>();
        index_ = nlohmann::ordered_json::parse(text.begin(), text.end());
      } else if (name == "i64") {
        whole_ = array.to_vector<std::int64_t>();
      } else {
        reals_[name] = array.to_vector<double>();
      }
    std::map<std::string, std::size_t> next;
    for (const auto& [id, results] : index_.items())
      for (const auto& r : results) {
        const DType dtype = cases::parse_dtype(r[1]);
        const std::string where = stored(dtype);
        std::size_t count = is_complex(dtype) ? 2 : 1;
        for (const std::int64_t n : r[2]) count *= static_cast<std::size_t>(n);
        std::size_t& at = next[where];
        places_[id][r[0]] = {dtype, r[2], at, count};
        at += count;
      }
  }
  /// Undefined where there is none.
  Array find(const std::string& id, const std::string& name, bool wide) const {
    const auto results = places_.find(id);
    if (results == places_.end()) throw std::runtime_error("there is no golden of " + id);
    const auto found = results->second.find(name);
    if (found == results->second.end()) return {};
    const auto& [dtype, shape, at, count] = found->second;
    const auto first = static_cast<std::ptrdiff_t>(at), last = static_cast<std::ptrdiff_t>(at + count);
    const std::string where = stored(dtype);
    if (where == "i64") {
      if (!wide)
        return Array::from_host(std::vector<std::int32_t>(whole_.begin() + first, whole_.begin() + last), shape)
            .astype(dtype == DType::i64 ? DType::i32 : dtype);
      return Array::from_host(std::vector(whole_.begin() + first, whole_.begin() + last), shape).astype(dtype);
    }
    const std::vector<double>& all = reals_.at(where);
    if (!wide)
      return Array::from_host(std::vector<float>(all.begin() + first, all.begin() + last), shape).astype(dtype);
    return Array::from_host(std::vector(all.begin() + first, all.begin() + last), shape).astype(dtype);
  }

 private:
  static std::string stored(DType t) {
    if (!is_inexact(t)) return "i64";
    return real_dtype(t) == DType::f64 ? "f64" : "f32";
  }
  struct Place {
    DType dtype;
    Shape shape;
    std::size_t at, count;
  };
  nlohmann::ordered_json index_;
  std::vector<std::int64_t> whole_;
  std::map<std::string, std::vector<double>> reals_;
  std::map<std::string, std::map<std::string, Place>> places_;
};
const Golden& golden(const std::string& family) {
  static std::map<std::string, Golden> all;
  return all.try_emplace(family, family).first->second;
}

bool has_wide_numbers() { return cotan::default_device().name() != "webgpu"; }
/// On a device without 64-bit numbers int64 is int32.
Array as_device_has_it(const Array& a) {
  if (a.dtype() != DType::i64 || has_wide_numbers()) return a;
  const auto values = a.to_vector<std::int64_t>();
  return Array::from_host(std::vector<std::int32_t>(values.begin(), values.end()), a.shape());
}
/// Whether a device without 64-bit numbers has what the case is of.
bool is_narrow(const Case& c) {
  const auto narrow = [](const cases::Argument& a) {
    return a.dtype == DType::i64 || itemsize(a.dtype) == 4 || a.dtype == DType::bool_;
  };
  const std::string params = c.params.dump();
  return std::all_of(c.arguments.begin(), c.arguments.end(), narrow) && params.find("f64") == params.npos &&
         params.find("i64") == params.npos;
}

Tensor contiguous(const Array& a, bool wants_grad) { return torch::from(a, wants_grad); }
/// The same elements, as a view of a tensor in which they do not lie side by side.
Tensor strided(const Array& a, bool wants_grad) {
  if (a.ndim() < 2) return torch::select(torch::from(np::stack({a, a}, -1), wants_grad), -1, 1);
  std::vector<int> reversed(static_cast<std::size_t>(a.ndim()));
  for (std::size_t i = 0; i < reversed.size(); ++i) reversed[i] = static_cast<int>(reversed.size() - 1 - i);
  return torch::permute(torch::from(np::transpose(a, reversed), wants_grad), reversed);
}

class OpTest : public testing::Test {
 public:
  explicit OpTest(const Case& c) : case_(c), golden_(golden(c.family)) {}
  void TestBody() override {
    if (!has_wide_numbers() && !is_narrow(case_)) GTEST_SKIP() << "the device has no 64-bit numbers";
    check(contiguous);
    if (!case_.arguments.empty() && case_.arguments[0].dtype == DType::f32) {
      SCOPED_TRACE("strided operands");
      check(strided);
    }
  }

 private:
  void check(Tensor (*make)(const Array&, bool)) const {
    const cotan::Arrays arrays = cases::make_inputs(case_);
    std::vector<Tensor> inputs, tracked, seeds;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const bool wants_grad = std::find(case_.grad.begin(), case_.grad.end(), i) != case_.grad.end();
      inputs.push_back(make(as_device_has_it(arrays[i]), wants_grad));
      if (wants_grad && !inputs.back().is_leaf()) inputs.back().retain_grad();
    }
    const std::vector<Tensor> outputs = lookup(case_.op)(inputs, Params(case_.params)).list;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const Tensor& out = outputs[k];
      if (!out.requires_grad()) continue;
      tracked.push_back(out);
      seeds.push_back(torch::from(cases::weights(case_.id, cases::output_weights + k, out.sizes(), out.dtype())));
    }
    if (!tracked.empty()) torch::autograd::backward(tracked, seeds);
    torch::mark_step();
    for (std::size_t k = 0; k < outputs.size(); ++k)
      compare(outputs[k], "out" + std::to_string(k) + (outputs[k].requires_grad() ? "+" : ""), false);
    EXPECT_FALSE(expected("out" + std::to_string(outputs.size())).defined()) << "PyTorch gives more results";
    for (const std::size_t i : case_.grad) compare(inputs[i].grad(), "grad" + std::to_string(i), true);
  }
  Array expected(const std::string& name) const { return golden_.find(case_.id, name, has_wide_numbers()); }
  void compare(const Tensor& actual, const std::string& name, bool gradient) const {
    const Array e = expected(name);
    ASSERT_EQ(actual.defined(), e.defined()) << name << (gradient ? "" : " (with a + if it requires gradients)");
    if (!e.defined()) return;
    EXPECT_TRUE(cases::close(actual.array(), e, tolerance(e.dtype(), gradient))) << name;
  }
  /// A gradient of a wide operand may have come through a narrow result.
  cases::Tolerance tolerance(DType dtype, bool gradient) const {
    cases::Tolerance out = case_.tolerance(dtype, gradient);
    for (const cases::Argument& a : case_.arguments)
      if (const cases::Tolerance t = case_.tolerance(a.dtype, gradient);
          gradient && is_inexact(a.dtype) && t.relative > out.relative)
        out = t;
    return out;
  }

  const Case& case_;
  const Golden& golden_;
};

const bool registered = [] {
  static const std::vector<Case> all = cases::load_table("torch/cases");
  for (const Case& c : all) {
    std::string name = c.id;
    std::replace(name.begin(), name.end(), ':', '/');  // ':' separates filters
    testing::RegisterTest("TorchOps", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [&c]() -> testing::Test* { return new OpTest(c); });
  }
  return true;
}();

}  // namespace

AddOps::AddOps(std::initializer_list<std::pair<const std::string, Function>> ops) {
  for (const auto& [name, f] : ops)
    if (!table().emplace(name, f).second) throw std::runtime_error("two functions for the op " + name);
}
const Function& lookup(const std::string& op) {
  const auto found = table().find(op);
  if (found == table().end()) throw std::runtime_error("no file of tests/torch has a function for the op " + op);
  return found->second;
}

}  // namespace torch_ops
