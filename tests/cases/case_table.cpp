#include "cases/case_table.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <stdexcept>

namespace cases {

namespace {

using cotan::Shape;

const std::map<std::string, Tolerance> default_tolerances = {
    {"f64", {1e-12, 1e-13}}, {"f32", {1e-5, 2e-6}}, {"f16", {4e-3, 1e-3}}, {"bf16", {3e-2, 8e-3}}};

// Expansion -------------------------------------------------------------------------------------

/// A list of alternatives as it is; an object of lists as their cartesian product, last key fastest.
std::vector<Json> param_alternatives(const Json& params) {
  if (params.is_array()) return params.get<std::vector<Json>>();
  std::vector<Json> out = {Json::object()};
  for (const auto& [key, values] : params.items()) {
    std::vector<Json> longer;
    for (const Json& partial : out)
      for (const Json& value : values) {
        longer.push_back(partial);
        longer.back()[key] = value;
      }
    out = std::move(longer);
  }
  return out;
}

std::string join(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ",") + part;
  return out;
}

std::string make_id(const std::string& op, const std::vector<Argument>& arguments, const Json& params,
                    const std::string& tag) {
  std::vector<std::string> dtypes, shapes, texts;
  for (const Argument& a : arguments) {
    dtypes.emplace_back(name(a.dtype));
    std::string shape;
    for (auto n : a.shape) shape += (shape.empty() ? "" : "x") + std::to_string(n);
    shapes.push_back(shape.empty() ? "scalar" : shape);
  }
  const bool same =
      !dtypes.empty() && std::all_of(dtypes.begin(), dtypes.end(), [&](auto& d) { return d == dtypes[0]; });
  for (const auto& [key, value] : params.items()) {
    std::string text = value.dump();
    std::erase(text, '"');
    texts.push_back(key + "=" + text);
  }
  const std::string none = "-";
  return op + ":" +
         (dtypes.empty() ? none
          : same         ? dtypes[0]
                         : join(dtypes)) +
         ":" + (shapes.empty() ? none : join(shapes)) + (texts.empty() ? "" : ":" + join(texts)) +
         (tag.empty() ? "" : "#" + tag);
}

bool is_matrix_kind(const std::string& kind) {
  static const std::set<std::string> kinds = {"spd", "symmetric", "lower", "upper", "well_conditioned", "matrix"};
  return kinds.contains(kind);
}

std::vector<Argument> make_arguments(const Json& specs, const Json& shapes, const Json& dtypes) {
  std::vector<Argument> out;
  std::size_t next_shape = 0;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const Json& spec = specs[i];
    const std::string kind = spec.value("kind", "uniform");
    if (kind == "key") {
      out.push_back({{2}, DType::u32, kind, {}, {}, {}, true});
      continue;
    }
    const DType dtype = parse_dtype(spec.contains("dtype") ? spec["dtype"] : dtypes.is_array() ? dtypes[i] : dtypes);
    Json domain = {-10, 10};
    if (is_inexact(dtype)) domain = is_matrix_kind(kind) ? Json{-1, 1} : Json{-2, 2};
    domain = spec.value("domain", domain);
    const Json& shape = spec.contains("shape") ? spec["shape"] : shapes.at(next_shape++);
    out.push_back({shape.get<Shape>(), dtype, kind, domain[0], domain[1], spec.value("values", Json::array()),
                   spec.contains("dtype")});
  }
  if (next_shape != shapes.size()) throw std::runtime_error("more shapes than arguments");
  return out;
}

std::map<std::string, Tolerance> parse_tolerances(const Json& row, const char* key) {
  std::map<std::string, Tolerance> out;
  if (row.contains(key))
    for (const auto& [dtype, pair] : row[key].items()) out[dtype] = {pair[0], pair[1]};
  return out;
}

void expand(const Json& row, const std::string& family, std::vector<Case>& out) {
  const Json specs = row.value("args", Json::array({Json::object()}));
  const bool free = std::any_of(specs.begin(), specs.end(),
                                [](const Json& a) { return !a.contains("dtype") && a.value("kind", "") != "key"; });
  const Json ops = row["op"].is_array() ? row["op"] : Json::array({row["op"]});
  const Json dtype_alternatives = free ? row.value("dtypes", Json{"f64", "f32"}) : Json{"-"};
  const Json shape_alternatives = row.value("shapes", Json::array({Json::array()}));
  const std::vector<Json> params_list = param_alternatives(row.value("params", Json::array({Json::object()})));
  Case c;
  c.family = family;
  c.exact = row.value("exact", false);
  c.finite_differences = row.value("fd", true);
  c.any_dtype = row.value("any_dtype", false);
  c.eager = row.value("eager", false);
  c.tolerances = parse_tolerances(row, "tol");
  c.grad_tolerances = parse_tolerances(row, "grad_tol");
  for (const Json& op : ops)
    for (const Json& dtypes : dtype_alternatives)
      for (const Json& shapes : shape_alternatives)
        for (const Json& params : params_list) {
          c.op = op;
          c.arguments = make_arguments(specs, shapes, dtypes);
          c.params = params;
          c.grad.clear();
          if (row.contains("grad"))
            c.grad = row["grad"].get<std::vector<std::size_t>>();
          else
            for (std::size_t i = 0; i < c.arguments.size(); ++i)
              if (is_inexact(c.arguments[i].dtype)) c.grad.push_back(i);
          for (std::size_t i : c.grad)
            if (const DType part = real_dtype(c.arguments[i].dtype); part != DType::f64 && part != DType::f32) {
              c.grad.clear();
              break;
            }
          c.id = make_id(c.op, c.arguments, params, row.value("tag", ""));
          out.push_back(c);
        }
}

// Inputs ----------------------------------------------------------------------------------------

using Word = std::uint64_t;
constexpr Word gamma = 0x9E3779B97F4A7C15;

Word fnv1a(const std::string& text) {
  Word h = 0xCBF29CE484222325;
  for (unsigned char byte : text) h = (h ^ byte) * 0x100000001B3;
  return h;
}
Word mix(Word z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}
std::vector<Word> random_words(const std::string& id, std::size_t argument, std::size_t count) {
  const Word stream = mix(fnv1a(id) + (argument + 1) * gamma);
  std::vector<Word> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = mix(stream + (i + 1) * gamma);
  return out;
}
double uniform(Word word, double low, double high) {
  return low + (high - low) * (static_cast<double>(word >> 11) * 0x1p-53);
}

std::vector<Word> ranks(const std::vector<Word>& words) {
  std::vector<std::size_t> order(words.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return std::pair(words[a], a) < std::pair(words[b], b); });
  std::vector<Word> out(words.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) out[order[rank]] = rank;
  return out;
}

std::size_t element_count(const Shape& shape) {
  std::size_t n = 1;
  for (auto extent : shape) n *= static_cast<std::size_t>(extent);
  return n;
}

/// A complex element is two numbers, as the elements along an axis of size 2 at the end.
std::size_t numbers_in(const Shape& shape, DType dtype) { return element_count(shape) * (is_complex(dtype) ? 2 : 1); }

double conjugate(double x) { return x; }
std::complex<double> conjugate(std::complex<double> x) { return std::conj(x); }

/// One m×n matrix of a matrix kind from uniform elements.
template <class T>
void shape_matrix(const std::string& kind, std::size_t m, std::size_t n, const T* b, T* a) {
  const auto at = [&](std::size_t i, std::size_t j) { return b[i * n + j]; };
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      T& out = a[i * n + j];
      const bool diagonal = i == j;
      if (kind == "spd") {
        T total = 0;
        for (std::size_t k = 0; k < n; ++k) total += at(i, k) * conjugate(at(j, k));
        out = total / static_cast<double>(n) + (diagonal ? 1.0 : 0.0);
      } else if (kind == "symmetric") {
        out = (at(i, j) + conjugate(at(j, i))) / 2.0 + (diagonal ? 2 * static_cast<double>(i) : 0.0);
      } else if (kind == "well_conditioned") {
        out = at(i, j) + (j == (i + 1) % n ? static_cast<double>(n + 1) : 0.0);
      } else if (kind == "matrix") {
        out = at(i, j) + (diagonal ? static_cast<double>(i + 2) : 0.0);
      } else {
        const bool inside = kind == "lower" ? i > j : i < j;
        out = diagonal ? T(1 + std::abs(at(i, i))) : inside ? at(i, j) : T(0);
      }
    }
}

template <class T>
void shape_matrices(const Argument& a, T* elements) {
  const auto m = static_cast<std::size_t>(a.shape[a.shape.size() - 2]), n = static_cast<std::size_t>(a.shape.back());
  const std::size_t count = element_count(a.shape);
  const std::vector<T> base(elements, elements + count);
  for (std::size_t at = 0; at < count; at += m * n) shape_matrix(a.kind, m, n, &base[at], &elements[at]);
}

/// Doubles rounded to a float dtype; half types go through f32. Of complex ones there are two per element.
Array round_to(const std::vector<double>& values, const Shape& shape, DType dtype) {
  if (is_complex(dtype)) {
    std::vector<std::complex<double>> numbers;
    for (std::size_t i = 0; i < values.size(); i += 2) numbers.emplace_back(values[i], values[i + 1]);
    if (dtype == DType::c128) return Array::from_host(numbers, shape);
    return Array::from_host(std::vector<std::complex<float>>(numbers.begin(), numbers.end()), shape);
  }
  if (dtype == DType::f64) return Array::from_host(values, shape);
  const std::vector<float> single(values.begin(), values.end());
  if (dtype == DType::f32) return Array::from_host(single, shape);
  if (dtype == DType::f16) return Array::from_host(std::vector<cotan::float16>(single.begin(), single.end()), shape);
  return Array::from_host(std::vector<cotan::bfloat16>(single.begin(), single.end()), shape);
}

template <class T>
Array host_integers(const std::vector<std::int64_t>& values, const Shape& shape) {
  std::vector<T> out;
  for (std::int64_t v : values) out.push_back(static_cast<T>(v));
  return Array::from_host(out, shape);
}
Array integers(const std::vector<std::int64_t>& values, const Shape& shape, DType dtype) {
  switch (dtype) {
    case DType::bool_:
      return host_integers<bool>(values, shape);
    case DType::i8:
      return host_integers<std::int8_t>(values, shape);
    case DType::i16:
      return host_integers<std::int16_t>(values, shape);
    case DType::i32:
      return host_integers<std::int32_t>(values, shape);
    case DType::u8:
      return host_integers<std::uint8_t>(values, shape);
    case DType::u16:
      return host_integers<std::uint16_t>(values, shape);
    case DType::u32:
      return host_integers<std::uint32_t>(values, shape);
    case DType::u64:
      return host_integers<std::uint64_t>(values, shape);
    default:
      return host_integers<std::int64_t>(values, shape);
  }
}

std::pair<std::int64_t, std::int64_t> integer_domain(const Argument& a) {
  const auto whole = [](const Json& v, double (*round)(double)) {
    return v.is_number_float() ? static_cast<std::int64_t>(round(v.get<double>())) : v.get<std::int64_t>();
  };
  std::int64_t low = whole(a.low, std::ceil), high = whole(a.high, std::floor);
  const int bits = static_cast<int>(8 * itemsize(a.dtype));
  if (is_unsigned_integer(a.dtype)) {
    low = std::max<std::int64_t>(low, 0);
    if (bits < 64) high = std::min(high, (std::int64_t{1} << bits) - 1);
  } else if (bits < 64) {
    low = std::max(low, -(std::int64_t{1} << (bits - 1)));
    high = std::min(high, (std::int64_t{1} << (bits - 1)) - 1);
  }
  return {low, high};
}

double listed_value(const Json& v) {
  if (!v.is_string()) return v.get<double>();
  const std::string text = v;
  const double infinity = std::numeric_limits<double>::infinity();
  return text == "nan" ? std::numeric_limits<double>::quiet_NaN() : text == "inf" ? infinity : -infinity;
}

Array make_input(const Case& c, std::size_t index, int variant) {
  const Argument& a = c.arguments[index];
  if (a.kind == "key") {
    const Word seed = static_cast<Word>(c.params["seed"].get<std::int64_t>() + variant);
    return Array::from_host(
        std::vector<std::uint32_t>{static_cast<std::uint32_t>(seed >> 32), static_cast<std::uint32_t>(seed)}, {2});
  }
  const std::size_t count = numbers_in(a.shape, a.dtype);
  const bool real = is_inexact(a.dtype);
  std::vector<double> reals(count);
  std::vector<std::int64_t> whole(count);
  if (a.kind == "values") {
    for (std::size_t i = 0; i < count; ++i) {
      const Json& v = a.values[i % a.values.size()];
      if (real)
        reals[i] = listed_value(v);
      else
        whole[i] = static_cast<std::int64_t>(v.get<double>());
    }
    return real ? round_to(reals, a.shape, a.dtype) : integers(whole, a.shape, a.dtype);
  }
  const std::vector<Word> words = random_words(variant ? c.id + "@" + std::to_string(variant) : c.id, index, count);
  if (a.dtype == DType::bool_) {
    for (std::size_t i = 0; i < count; ++i) whole[i] = static_cast<std::int64_t>(words[i] >> 63);
    return integers(whole, a.shape, a.dtype);
  }
  std::vector<Word> rank;
  if (a.kind == "distinct") rank = ranks(words);
  if (a.kind == "sorted")
    for (std::size_t i = 0; i < count; ++i) rank.push_back(i);
  if (real) {
    const double low = a.low, high = a.high;
    for (std::size_t i = 0; i < count; ++i)
      reals[i] = rank.empty()
                     ? uniform(words[i], low, high)
                     : low + (high - low) * ((static_cast<double>(rank[i]) + 0.5) / static_cast<double>(count));
    if (is_matrix_kind(a.kind)) {
      if (is_complex(a.dtype)) {
        std::vector<std::complex<double>> numbers;
        for (std::size_t i = 0; i < count; i += 2) numbers.emplace_back(reals[i], reals[i + 1]);
        shape_matrices(a, numbers.data());
        for (std::size_t i = 0; i < count; ++i) reals[i] = i % 2 ? numbers[i / 2].imag() : numbers[i / 2].real();
      } else {
        shape_matrices(a, reals.data());
      }
    }
    return round_to(reals, a.shape, a.dtype);
  }
  const auto [low, high] = integer_domain(a);
  const Word range = static_cast<Word>(high) - static_cast<Word>(low) + 1;
  for (std::size_t i = 0; i < count; ++i)
    whole[i] = static_cast<std::int64_t>(static_cast<Word>(low) + (rank.empty() ? words[i] : rank[i]) % range);
  return integers(whole, a.shape, a.dtype);
}

}  // namespace

Tolerance Case::tolerance(DType dtype, bool gradient) const {
  const std::string key(name(real_dtype(dtype)));
  for (const auto* table : {gradient ? &grad_tolerances : &tolerances, &tolerances, &default_tolerances})
    if (const auto found = table->find(key); found != table->end()) return found->second;
  return {};
}

std::vector<Case> load_table(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(COTAN_SOURCE_DIR "/tests/" + folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Case> out;
  for (const auto& file : files) {
    std::ifstream in(file);
    for (const Json& row : Json::parse(in)) try {
        expand(row, file.stem().string(), out);
      } catch (const std::exception& e) {
        throw std::runtime_error(file.filename().string() + ": " + e.what() + " in the row " + row.dump());
      }
  }
  std::set<std::string> ids;
  for (const Case& c : out)
    if (!ids.insert(c.id).second) throw std::runtime_error("two rows give the case " + c.id + "; add a tag");
  return out;
}

Arrays make_inputs(const Case& c, int variant) {
  Arrays out;
  for (std::size_t i = 0; i < c.arguments.size(); ++i) out.push_back(make_input(c, i, variant));
  return out;
}

Array weights(const std::string& id, std::size_t argument, const Shape& shape, DType dtype) {
  std::vector<double> values;
  for (Word word : random_words(id, argument, numbers_in(shape, dtype))) values.push_back(uniform(word, -1, 1));
  return round_to(values, shape, dtype);
}

DType parse_dtype(const std::string& text) {
  for (int i = 0; i <= static_cast<int>(DType::c128); ++i)
    if (const auto dtype = static_cast<DType>(i); name(dtype) == text) return dtype;
  throw std::runtime_error("no dtype is called " + text);
}

}  // namespace cases
