// The catalogue's indexing operations: slices, gathers, scatters, dynamic slices.
#include "compose/random_program.hpp"

namespace compose {

namespace {

/// Random indices into an axis of size n, negative ones too.
Array random_indices(Draw& draw, int n, const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t d : shape) count *= d;
  std::vector<std::int32_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(draw.between(-n, n - 1));
  return Array::from_host(values, shape);
}

/// For arrays with at least one axis and no empty one; `n` is the size of axis 0.
template <class F>
Op on_leading_axis(std::string name, int arity, F f) {
  return {std::move(name), arity, [f](Draw& draw, const Arrays& like) -> std::optional<Body> {
            if (like[0].ndim() == 0 || like[0].size() == 0) return std::nullopt;
            return f(draw, like, static_cast<int>(like[0].shape(0)));
          }};
}
Body plainly(Apply f) { return {std::move(f)}; }

/// The index of the largest element of the flattened array: dynamic, and constant away from ties.
Array largest_at(const Array& a, int modulus) { return np::remainder(np::argmax(a), modulus); }

}  // namespace

std::vector<Op> indexing_ops() {
  return {
      on_leading_axis("index", 1,
                      [](Draw& draw, const Arrays&, int n) {
                        const int i = draw.between(-n, n - 1);
                        return plainly([=](const Arrays& v) { return v[0][i]; });
                      }),
      on_leading_axis("slice", 1,
                      [](Draw& draw, const Arrays&, int n) {
                        const int start = draw.below(n), step = draw.between(1, 2);
                        const bool backwards = draw.one_in(3);
                        return plainly([=](const Arrays& v) {
                          return backwards ? v[0](ct::range(ct::none, ct::none, -step))
                                           : v[0](ct::range(start, ct::none, step));
                        });
                      }),
      on_leading_axis("index_last", 1,
                      [](Draw& draw, const Arrays& like, int) {
                        const int i = draw.below(static_cast<int>(like[0].shape(-1)));
                        return plainly([=](const Arrays& v) { return v[0](ct::ellipsis, ct::newaxis, i); });
                      }),
      on_leading_axis("gather", 1,
                      [](Draw& draw, const Arrays&, int n) {
                        static const std::vector<Shape> shapes{{3}, {2, 2}, {1}};
                        const Array at = random_indices(draw, n, draw.pick(shapes));
                        return plainly([=](const Arrays& v) { return v[0](at); });
                      }),
      on_leading_axis("gather_two", 1,
                      [](Draw& draw, const Arrays& like, int n) -> std::optional<Body> {
                        if (like[0].ndim() < 2) return std::nullopt;
                        const Array rows = random_indices(draw, n, {3});
                        const Array columns = random_indices(draw, static_cast<int>(like[0].shape(1)), {3});
                        return plainly([=](const Arrays& v) { return v[0](rows, columns); });
                      }),
      on_leading_axis("take", 1,
                      [](Draw& draw, const Arrays& like, int) {
                        const int axis = draw.below(like[0].ndim());
                        const Array at = random_indices(draw, static_cast<int>(like[0].shape(axis)), {2});
                        return plainly([=](const Arrays& v) { return np::take(v[0], at, axis); });
                      }),
      on_leading_axis("at_add", 1,
                      [](Draw& draw, const Arrays&, int n) {
                        const Array at = random_indices(draw, n, {3});  // may repeat
                        return plainly([=](const Arrays& v) { return v[0].at(at).add(np::sin(v[0](at))); });
                      }),
      on_leading_axis("at_add_outside", 1,
                      [](Draw& draw, const Arrays&, int n) {
                        const Array at = random_indices(draw, n, {2}) + n;  // some fall outside and are dropped
                        return plainly([=](const Arrays& v) { return v[0].at(at).add(0.5 * np::cos(np::sum(v[0]))); });
                      }),
      on_leading_axis("at_set", 1,
                      [](Draw& draw, const Arrays&, int n) {
                        const int i = draw.between(-n, n - 1);
                        return plainly([=](const Arrays& v) { return v[0].at(i).set(np::tanh(np::sum(v[0]))); });
                      }),
      on_leading_axis("at_set_range", 2,
                      [](Draw&, const Arrays& like, int) -> std::optional<Body> {
                        if (like[0].shape() != like[1].shape()) return std::nullopt;
                        return plainly(
                            [](const Arrays& v) { return v[0].at(ct::range(0, 2)).set(v[1](ct::range(0, 2))); });
                      }),
      on_leading_axis("at_multiply", 1,
                      [](Draw& draw, const Arrays&, int n) {
                        const int i = draw.between(0, n - 1);
                        return plainly(
                            [=](const Arrays& v) { return v[0].at(i).multiply(1.0 + 0.5 * np::sin(v[0][i])); });
                      }),
      on_leading_axis("dynamic_slice", 1,
                      [](Draw& draw, const Arrays&, int n) {
                        const int start = draw.between(-1, n), size = draw.between(1, n);
                        return plainly([=](const Arrays& v) {
                          return lax::dynamic_slice_in_dim(v[0], np::array(start), size, 0);
                        });
                      }),
      on_leading_axis("dynamic_slice_at_largest", 1,
                      [](Draw& draw, const Arrays&, int n) {
                        const int size = draw.between(1, n);
                        return Body{[=](const Arrays& v) {
                                      return lax::dynamic_slice_in_dim(v[0], largest_at(v[0], n), size, 0);
                                    },
                                    nullptr, [](const Arrays& v) { return smallest_difference(v[0]); }};
                      }),
      on_leading_axis("gather_at_largest", 1,
                      [](Draw&, const Arrays&, int n) {
                        return Body{[=](const Arrays& v) { return np::sin(v[0](largest_at(v[0], n))); }, nullptr,
                                    [](const Arrays& v) { return smallest_difference(v[0]); }};
                      }),
      on_leading_axis("scatter_at_largest", 1,
                      [](Draw&, const Arrays&, int n) {
                        return Body{
                            [=](const Arrays& v) { return v[0].at(largest_at(v[0], n)).add(np::cos(np::sum(v[0]))); },
                            nullptr, [](const Arrays& v) { return smallest_difference(v[0]); }};
                      }),
      on_leading_axis("dynamic_update_slice", 1,
                      [](Draw& draw, const Arrays&, int n) {
                        const int start = draw.between(-1, n);
                        return plainly([=](const Arrays& v) {
                          return lax::dynamic_update_slice_in_dim(v[0], 0.5 * np::sin(v[0](ct::range(0, 1))),
                                                                  np::array(start), 0);
                        });
                      }),
  };
}

}  // namespace compose
