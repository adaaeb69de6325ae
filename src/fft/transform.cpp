#include "fft/transform.hpp"

#include <algorithm>
#include <complex>
#include <mutex>

#include "ops/fft.hpp"
#include "ops/ops.hpp"

namespace cotan::fft {

namespace {

/// The tables that were used last, up to a number of bytes.
class TableCache {
 public:
  HostTable find(TableKind kind, std::int64_t n) {
    const std::lock_guard lock(mutex_);
    const auto at =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.kind == kind && e.n == n; });
    if (at == entries_.end()) return nullptr;
    std::rotate(entries_.begin(), at, at + 1);
    return entries_.front().table;
  }
  void add(TableKind kind, std::int64_t n, const HostTable& table) {
    constexpr std::size_t most_elements = 1 << 21, most_entries = 64;
    const std::lock_guard lock(mutex_);
    entries_.insert(entries_.begin(), {kind, n, table});
    std::size_t total = 0, kept = 0;
    while (kept < std::min(entries_.size(), most_entries) && (total += entries_[kept].table->size()) <= most_elements)
      ++kept;
    entries_.resize(kept);
  }

 private:
  struct Entry {
    TableKind kind;
    std::int64_t n;
    HostTable table;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace

HostTable cached_table(TableKind kind, std::int64_t n, const std::function<std::vector<double>()>& make) {
  static TableCache cache;
  HostTable table = cache.find(kind, n);
  if (!table) {
    table = std::make_shared<const std::vector<double>>(make());
    cache.add(kind, n, table);
  }
  return table;
}

Array constant(const HostTable& table, const Shape& shape, DType dtype) {
  if (dtype == f64) return Array::from_host(*table, shape);
  return Array::from_host(std::vector<float>(table->begin(), table->end()), shape);
}

Complex roots(std::int64_t n, const Shape& shape, int axis, DType dtype) {
  const std::int64_t count = n / 2 + 1, wanted = shape[static_cast<std::size_t>(axis)];
  // Long tables are products of two short ones, k = step * i + j, which costs a rounding and saves megabytes.
  constexpr std::int64_t longest = 4096;
  std::int64_t step = 1;
  if (count > longest)
    while (step * step < count) step *= 2;
  const std::int64_t steps = (count + step - 1) / step;
  const auto table = [&](TableKind kind, std::int64_t size, std::int64_t stride) {
    const HostTable t = cached_table(kind, n, [&] {
      std::vector<double> out(static_cast<std::size_t>(2 * size));
      for (std::int64_t k = 0; k < size; ++k) {
        const std::complex<double> w = ops::root_of_unity(k * stride, n);
        out[static_cast<std::size_t>(k)] = w.real();
        out[static_cast<std::size_t>(size + k)] = w.imag();
      }
      return out;
    });
    const Array both = constant(t, {2, size}, dtype);
    return Complex{ops::reshape(ops::slice_axis(both, 0, 0, 1), {size}),
                   ops::reshape(ops::slice_axis(both, 0, 1, 2), {size})};
  };
  const auto first = [](const Array& a, std::int64_t n) { return ops::slice_axis(a, 0, 0, n); };
  const Complex coarse = table(TableKind::coarse_roots, steps, step);
  const auto along = [&](const Array& a) { return ops::broadcast_in_dim(a, shape, {axis}); };
  if (step == 1) return {along(first(coarse.re, wanted)), along(first(coarse.im, wanted))};
  const Complex fine = table(TableKind::fine_roots, step, 1);
  const std::int64_t rows = (wanted + step - 1) / step;
  const auto spread = [&](const Array& a, std::int64_t axis_of_table) {
    const Array table = ops::broadcast_in_dim(axis_of_table == 0 ? first(a, rows) : a, {rows, step}, {axis_of_table});
    return first(ops::reshape(table, {rows * step}), wanted);
  };
  const Complex out =
      Complex{spread(coarse.re, 0), spread(coarse.im, 0)} * Complex{spread(fine.re, 1), spread(fine.im, 1)};
  return {along(out.re), along(out.im)};
}

Complex transform(const Complex& a, int axis) {
  const std::int64_t n = a.re.shape(axis);
  if (n == 1) return a;
  if (!ops::has_fft_plan(n)) return chirp_transform(a, axis);
  const HostTable tables = cached_table(TableKind::stages, n, [&] { return ops::fft_tables(ops::fft_plan(n)); });
  const Array constants = constant(tables, {static_cast<std::int64_t>(tables->size())}, a.re.dtype());
  const Arrays y = bind(ops::fft_p, {a.re, a.im, constants}, {{"axis", std::int64_t{axis}}});
  return {y[0], y[1]};
}

}  // namespace cotan::fft
