// Tutorial 1: arrays. Making them, computing with them, indexing, updating, reading them back.
#include <cassert>
#include <cotan/cotan.hpp>
#include <iostream>

namespace ct = cotan;
namespace np = cotan::numpy;

int main() {
  // Braces make f32 and i32 arrays; give a dtype for others. Elements print as in NumPy.
  const ct::Array a = np::array({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  const ct::Array d = np::array({0.1, 0.2}, ct::f64);
  std::cout << "a =\n" << a << "\nshape " << ct::describe(a.shape()) << ", dtype " << a.dtype() << "\n\n";

  // Operators broadcast. A C++ number takes the dtype of the array it meets: 0.1 beside f64 is exact.
  std::cout << "2a + 1 =\n" << 2.0 * a + 1.0 << "\n\n";
  assert((d * 0.1).dtype() == ct::f64);
  // Arrays of different dtypes meet in JAX's promotion lattice.
  assert((np::arange(3) + np::ones({3}, ct::bf16)).dtype() == ct::bf16);

  // Indexing as in NumPy: integers, ranges, new axes, arrays of indices.
  std::cout << "first row       " << a[0] << "\n";
  std::cout << "last column     " << a(ct::all, -1) << "\n";
  std::cout << "every other     " << a(0, ct::range(0, 3, 2)) << "\n";
  std::cout << "columns 2, 0    " << a(1, np::array({2, 0})) << "\n\n";

  // Arrays never change. An update is a new array; a loop of updates is still cheap once compiled.
  const ct::Array b = a.at(0, ct::all).set(0.0).at(1, 2).add(10.0);
  std::cout << "updated =\n" << b << "\n(a is what it was: " << a[0] << ")\n\n";

  // Reductions take an axis or several; the values come back as C++ types.
  const float total = np::sum(a).item<float>();
  const std::vector<double> means = np::mean(a, 0).to_vector<double>();
  std::cout << "sum " << total << ", column means " << means[0] << " " << means[1] << " " << means[2] << "\n";
  assert(total == 21.f && means[1] == 3.5);

  // Mistakes say what to do about them.
  try {
    a + np::ones({4});
  } catch (const ct::ShapeError& e) {
    std::cout << "\n" << e.what() << "\n";
  }
}
