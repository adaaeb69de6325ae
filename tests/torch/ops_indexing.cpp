// Indexing and creation of tests/torch/cases.
#include "torch/ops.hpp"

namespace torch_ops {

namespace {

torch::Slice slice(const std::string& text) {
  std::vector<torch::Slice::End> ends;
  for (std::size_t at = 0; ends.size() < 3; at = text.find(':', at) + 1) {
    const std::string part = text.substr(at, text.find(':', at) - at);
    ends.push_back(part.empty() ? torch::Slice::End(torch::None()) : torch::Slice::End(std::stoi(part)));
    if (text.find(':', at) == std::string::npos) break;
  }
  ends.resize(3, torch::None());
  return torch::Slice(ends[0], ends[1], ends[2].value.value_or(1));
}
/// Of the param `index`: integers, "a:b:c", "None", "..." and "@k" for tensor k.
std::vector<torch::TensorIndex> indices(Tensors x, const Params& p) {
  std::vector<torch::TensorIndex> out;
  for (const cases::Json& i : p["index"]) {
    if (i.is_number()) {
      out.emplace_back(i.get<std::int64_t>());
      continue;
    }
    const std::string text = i;
    if (text[0] == '@')
      out.emplace_back(x[static_cast<std::size_t>(std::stoi(text.substr(1)))]);
    else if (text == "None")
      out.emplace_back(torch::None());
    else if (text == "...")
      out.emplace_back(torch::Ellipsis);
    else
      out.emplace_back(slice(text));
  }
  return out;
}
/// Assignments to index expressions.
Results set(Tensors x, const Params& p) {
  const Tensor out = torch::clone(x[0]);
  const auto at = indices(x, p);
  return with_operand(x, x.size() - 1, p, "value", [&](const auto& value) {
    if (p.flag("accumulate"))
      out.index(at) += value;
    else
      out.index(at) = value;
    return out;
  });
}
torch::TensorOptions options(const Params& p) {
  return p.has("dtype") ? torch::TensorOptions{.dtype = p.dtype()} : torch::TensorOptions();
}
template <class F>
Results number(const Params& p, const char* key, F f) {
  return with_operand({}, 0, p, key, f);
}

const AddOps added{
    {"index", [](Tensors x, const Params& p) { return x[0].index(indices(x, p)); }},
    {"index_set", set},
    {"index_put",
     [](Tensors x, const Params& p) { return x[0].index_put(indices(x, p), x.back(), p.flag("accumulate")); }},
    {"arange_of",
     [](Tensors, const Params& p) {
       return number(p, "start", [&](const auto& start) {
         return number(p, "end", [&](const auto& end) {
           return number(p, "step", [&](const auto& step) { return torch::arange(start, end, step, options(p)); });
         });
       });
     }},
    {"linspace",
     [](Tensors, const Params& p) {
       return torch::linspace(p.real("start"), p.real("end"), p.integer("steps"), options(p));
     }},
    {"logspace",
     [](Tensors, const Params& p) {
       return torch::logspace(p.real("start"), p.real("end"), p.integer("steps"), p.real("base", 10), options(p));
     }},
    {"eye",
     [](Tensors, const Params& p) {
       return torch::eye(p.integer("n"), p.has("m") ? std::optional(p.integer("m")) : std::nullopt, options(p));
     }},
    {"zeros", [](Tensors, const Params& p) { return torch::zeros(p.shape("size"), options(p)); }},
    {"ones", [](Tensors, const Params& p) { return torch::ones(p.shape("size"), options(p)); }},
    {"full",
     [](Tensors, const Params& p) {
       return number(p, "fill_value", [&](const auto& v) { return torch::full(p.shape("size"), v, options(p)); });
     }},
    {"zeros_like", [](Tensors x, const Params&) { return torch::zeros_like(x[0]); }},
    {"ones_like", [](Tensors x, const Params&) { return torch::ones_like(x[0]); }},
    {"full_like",
     [](Tensors x, const Params& p) {
       return number(p, "fill_value", [&](const auto& v) { return torch::full_like(x[0], v); });
     }},
};

}  // namespace

}  // namespace torch_ops
