// Loops that change a large carry in few places: written where the carry lies, and what reads the value before or
// after must see that one. Each program against the reference device, in several transforms.
#include <cotan/cotan.hpp>

#include "control/support.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;
using ct::Arrays;
using Function = std::function<Array(Array)>;

constexpr std::int64_t n = 700;  // more than what is handed on by copying

struct Program {
  const char* name;
  Function function;
  bool in_place = true;
};

Array counted(const Array& x, std::int64_t steps, const std::function<Array(Array, Array)>& body) {
  return lax::fori_loop(0, steps, [&](Array i, Array x) { return body(i, x); }, x);
}
std::vector<Program> programs() {
  const auto slice = [](const Array& x, const Array& start, std::int64_t size) {
    return lax::dynamic_slice(x, {start}, {size});
  };
  const auto put = [](const Array& x, const Array& value, const Array& start) {
    return lax::dynamic_update_slice(x, value, {start});
  };
  return {
      {"recurrence",
       [=](Array x) {
         return counted(x, 600,
                        [=](Array i, Array x) { return put(x, slice(x, i, 1) * 0.5 + slice(x, i + 1, 1), i + 2); });
       }},
      {"overlapping_window",
       [=](Array x) {
         return counted(x, 50, [=](Array i, Array x) { return put(x, slice(x, i, 100) * 0.9, i + 3); });
       }},
      {"shift_by_one",
       [=](Array x) {
         return counted(x, 20, [](Array, Array x) { return x.at(ct::range(1, n)).set(x(ct::range(0, n - 1))); });
       }},
      {"two_updates",
       [=](Array x) {
         return counted(
             x, 300, [=](Array i, Array x) { return put(put(x, slice(x, i + 1, 1) + 1, i), slice(x, i, 1), i + 7); });
       }},
      {"swap",
       [=](Array x) {
         return counted(x, 300, [=](Array i, Array x) {
           const Array a = slice(x, i, 1), b = slice(x, i * 2 + 1, 1);
           return put(put(x, b, i), a, i * 2 + 1);
         });
       }},
      {"set_at_index",
       [](Array x) { return counted(x, 500, [](Array i, Array x) { return x.at(i).set(x[i + 1] * 2); }); }},
      {"add_at_index",
       [](Array x) { return counted(x, 500, [](Array i, Array x) { return x.at(i + 1).add(x[i] * 0.25); }); }},
      {"out_of_bounds_is_dropped",
       [](Array x) { return counted(x, 500, [](Array i, Array x) { return x.at(i * 3).set(1.5); }); }},
      {"negative_and_clamped",
       [=](Array x) {
         return counted(x, 100,
                        [=](Array i, Array x) { return put(x, slice(x, i, 2), i * 9 - 100).at(-i).multiply(0.5); });
       }},
      {"minimum_and_maximum",
       [](Array x) {
         return counted(x, 100, [](Array i, Array x) { return x.at(i).min(x[i + 1]).at(i + 3).max(x[i + 5]); });
       }},
      {"nothing_is_put",
       [=](Array x) { return counted(x, 3, [=](Array i, Array x) { return put(x, np::zeros({0}, ct::f64), i); }); },
       false},
      {"several_indices",
       [](Array x) {
         return counted(x, 100, [](Array i, Array x) {
           const Array at = np::stack(std::vector<Array>{i, i + 5, i});
           return x.at(at).add(x(at + 1));
         });
       }},
      {"reads_the_old_value_afterwards",
       [=](Array x) {
         return counted(x, 100, [=](Array i, Array x) {
           const Array y = put(x, slice(x, i, 1) + 1, i);
           return y + x * 0.01;
         });
       },
       false},
      {"view_of_the_old_value_is_given_out",
       [=](Array x) {
         const auto [last, rows] = lax::scan(
             [=](Array x, Array i) { return std::pair{put(x, np::ones({1}, ct::f64), i), x(ct::range(3, 600))}; }, x,
             np::arange(40));
         return np::sum(rows, 0) + last(ct::range(0, 597));
       }},
      {"view_of_the_old_value_meets_the_new_one",
       [=](Array x) {
         const auto [last, sums] = lax::scan(
             [=](Array x, Array i) {
               const Array view = x(ct::range(0, n, 2)), y = put(x, np::ones({1}, ct::f64) * 3, i);
               return std::pair{y, np::sum(view * slice(y, i, n / 2))};
             },
             x, np::arange(40));
         return last + np::sum(sums);
       }},
      {"matrix_rows",
       [](Array x) {
         const Array m = np::reshape(x, {35, 20});
         return lax::fori_loop(0, 34, [](Array i, Array m) { return m.at(i + 1).set(np::sin(m[i]) + m[i + 1]); }, m);
       }},
      {"nested",
       [=](Array x) {
         return counted(x, 20, [=](Array i, Array x) {
           return counted(x, 30,
                          [=](Array j, Array x) { return put(x, slice(x, i * 30 + j, 1) * 0.5 + 1, i + j * 20); });
         });
       }},
      {"nested_with_an_update_around",
       [=](Array x) {
         return counted(x, 20, [=](Array i, Array x) {
           const Array first = put(x, slice(x, i, 2), i + 100);
           const Array y =
               counted(first, 10, [=](Array j, Array x) { return put(x, slice(x, j, 1) + slice(x, i, 1), j + i); });
           return put(y, slice(y, i + 2, 1), i);
         });
       }},
      {"nested_that_reads_what_is_around",
       [=](Array x) {
         return counted(x, 20, [=](Array i, Array old) {
           return counted(old, 10, [=](Array j, Array x) { return put(x, slice(old, j, 1) + slice(x, i, 1), j + i); });
         });
       },
       false},
      {"while_loop",
       [=](Array x) {
         return lax::while_loop([](std::pair<Array, Array> c) { return (c.first < 90) & (c.second[0] < 1e6); },
                                [=](std::pair<Array, Array> c) {
                                  return std::pair{c.first + 1, put(c.second, slice(c.second, c.first, 1) * 1.1,
                                                                    np::floor_divide(c.first, 2))};
                                },
                                std::pair{Array(0), x})
             .second;
       }},
      {"two_carries",
       [=](Array x) {
         const auto [a, b] = lax::fori_loop(
             0, 60,
             [=](Array i, std::pair<Array, Array> c) {
               const auto& [a, b] = c;
               return std::pair{put(a, slice(b, i, 4), i + 2), put(b, slice(a, i + 1, 4), i + 3)};
             },
             std::pair{x, x * 2});
         return a + b;
       }},
      {"crossed_carries",
       [=](Array x) {
         const auto [a, b] = lax::fori_loop(
             0, 61,
             [=](Array i, std::pair<Array, Array> c) {
               return std::pair{put(c.second, slice(c.first, i, 4), i), put(c.first, slice(c.second, i, 4), i + 1)};
             },
             std::pair{x, x * 2});
         return a - b;
       },
       false},
  };
}

Array on(const char* device, const Function& f, const Array& x) {
  const control::OnDevice scope(device);
  return ct::device_put(ct::jit(f)(ct::device_put(x, device)), "reference");
}

void PrintTo(const Program& p, std::ostream* out) { *out << p.name; }

class InPlace : public ::testing::TestWithParam<Program> {};

TEST_P(InPlace, EqualsReference) {
  const Array x = ct::device_put(control::formula({n}, 0), "reference");
  const auto check = [&](const char* what, const Function& f, const Array& x) {
    const Array native = on("native", f, x), expected = on("reference", f, x);
    const control::OnDevice scope("reference");
    EXPECT_TRUE(np::allclose(native, expected, 1e-12, 1e-12).item<bool>()) << GetParam().name << ", " << what;
  };
  const Function f = GetParam().function;
  check("value", f, x);
  check("jvp", [f](Array x) { return ct::jvp(f, std::tuple{x}, std::tuple{np::cos(x)}).second; }, x);
  check("vmap", [f](Array x) { return ct::vmap(f)(x); }, np::stack(std::vector<Array>{x, x * 0.5, x + 1}));
  if (std::string_view(GetParam().name) != "while_loop")
    check("grad", ct::grad([f](Array x) { return np::sum(np::sin(f(x))); }), x);
}

/// A carry that is not written in place has a second place, and copies.
TEST_P(InPlace, TakesNoSecondPlace) {
  const control::OnDevice scope("native");
  const Array x = control::formula({n}, 0);
  const std::string text = ct::explain(ct::jit(GetParam().function), x).text();
  EXPECT_EQ(text.find("two places in turn") == std::string::npos, GetParam().in_place) << text;
}

INSTANTIATE_TEST_SUITE_P(Programs, InPlace, ::testing::ValuesIn(programs()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
