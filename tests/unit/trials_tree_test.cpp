// Pytrees: classes that list their fields, base classes, variants; map with several results and its kin.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>

namespace np = cotan::numpy;
using namespace cotan;

namespace {

struct Module {};  // an empty base class needs nothing
struct Linear : Module {
  Array w, b;
};
class Norm {
 public:
  explicit Norm(int size) : size_(size), scale_(np::full({size}, 2.f)) {}
  Array operator()(const Array& x) const { return x * scale_; }
  int size() const { return size_; }

 private:
  int size_;
  Array scale_;
  COTAN_TREE(size_, scale_)
};
class Affine : public Norm {
 public:
  Affine() : Norm(2), shift(np::array({1.f, 2.f})) {}
  virtual ~Affine() = default;
  Array shift;
  COTAN_TREE_DERIVED(Norm, shift)
};
struct ByHand {
  ByHand(Array a, Array c) : first(std::move(a)), cache(std::move(c)) {}
  auto tree_fields() const { return std::tie(first); }
  Array first, cache;  // only the first is part of the tree
};
struct Chosen {
  std::variant<std::monostate, Array, Linear> part;
  Array always;
};
struct Node {
  Array value;
  std::vector<Node> children;
};
Linear linear(float v) { return {{}, np::full({2}, v), np::array(v)}; }
using Names = std::vector<std::string>;

}  // namespace

TEST(Trials, Item25ClassesThatListTheirFields) {
  const Affine a;
  EXPECT_EQ(tree::paths(a), (Names{".scale_", ".shift"}));
  EXPECT_EQ(tree::structure(a), "{.size_=2,.scale_=*,.shift=*,}");
  const Affine g =
      jit(grad([](const Affine& m, const Array& x) { return np::sum(m(x) * m.shift); }))(a, np::array({3.f, 4.f}));
  EXPECT_EQ(g.shift.to_vector<float>(), (std::vector<float>{6, 8}));
  EXPECT_EQ(g(np::array({1.f, 1.f})).to_vector<float>(), (std::vector<float>{3, 8}));
  EXPECT_EQ(g.size(), 2);
  EXPECT_NE(tree::structure(Norm(2)), tree::structure(Norm(3)));  // numbers are static
}
TEST(Trials, Item25FieldsByHand) {
  const ByHand t(np::array(2.f), np::array(5.f));
  EXPECT_EQ(tree::paths(t), (Names{".0"}));
  const ByHand g = grad([](const ByHand& x) { return x.first * x.first * x.cache; })(t);
  EXPECT_EQ(g.first.item<float>(), 20.f);
  EXPECT_EQ(g.cache.item<float>(), 5.f);
}
TEST(Trials, Item25BaseClasses) {
  const Linear l = linear(3);
  EXPECT_EQ(tree::paths(l), (Names{".w", ".b"}));
  EXPECT_EQ(grad([](const Linear& m) { return np::sum(m.w) * m.b; })(l).b.item<float>(), 6.f);
  static_assert(tree::Tree<Linear> && tree::Tree<Node>);
}
TEST(Trials, Item25Variants) {
  Chosen c{linear(3), np::array(1.f)};
  EXPECT_EQ(tree::paths(c), (Names{".part.w", ".part.b", ".always"}));
  const auto f = jit([](const Chosen& t) {
    const auto* l = std::get_if<Linear>(&t.part);
    return (l ? np::sum(l->w) : np::array(0.f)) + t.always;
  });
  EXPECT_EQ(f(c).item<float>(), 7.f);
  c.part = std::monostate();
  EXPECT_EQ(f(c).item<float>(), 1.f);  // another structure, another program
  c.part = np::array(2.f);
  EXPECT_EQ(tree::leaves(c).size(), 2u);
  EXPECT_EQ(tree::structure(c), "{.part=<1:*>,.always=*,}");
  const Chosen g = grad([](const Chosen& t) { return std::get<Array>(t.part) * t.always; })(c);
  EXPECT_EQ(std::get<Array>(g.part).item<float>(), 1.f);
}
TEST(Trials, Item25TypesThatHoldThemselves) {
  const Node n{np::array(1.f), {{np::array(2.f), {}}, {np::array(3.f), {{np::array(4.f), {}}}}}};
  EXPECT_EQ(tree::paths(n).back(), ".children[1].children[0].value");
  EXPECT_EQ(tree::reduce([](const Array& s, const Array& x) { return s + x; }, n, np::array(0.f)).item<float>(), 10.f);
}
TEST(Trials, Item25MapWithSeveralResults) {
  const Linear p = linear(2), g = linear(3);
  const auto [next, momentum] = tree::map([](const Array& x, const Array& d) { return std::pair{x - d, x * d}; }, p, g);
  static_assert(std::is_same_v<decltype(next), const Linear>);
  EXPECT_EQ(next.b.item<float>(), -1.f);
  EXPECT_EQ(momentum.w.to_vector<float>(), (std::vector<float>{6, 6}));
  const std::array<Linear, 2> both = tree::map([](const Array& x) { return std::array{x + 1, x + 2}; }, p);
  EXPECT_EQ(both[1].b.item<float>(), 4.f);
  const auto [a, b, c] = tree::map([](const Array& x) { return std::tuple{x, -x, 2 * x}; }, p);
  EXPECT_EQ(a.b.item<float>() + b.b.item<float>() + c.b.item<float>(), 4.f);
  const Linear weak = tree::map([](const Array&) { return 1.0; }, p);  // a number is an Array
  EXPECT_EQ(weak.b.item<float>(), 1.f);
}
TEST(Trials, Item25MapWithPath) {
  Names seen;
  const Linear decayed = tree::map_with_path(
      [&](const std::string& path, const Array& x) {
        seen.push_back(path);
        return path == ".w" ? x * 0.5 : x;
      },
      linear(2));
  EXPECT_EQ(seen, (Names{".w", ".b"}));
  EXPECT_EQ(decayed.w.to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(decayed.b.item<float>(), 2.f);
}
TEST(Trials, Item25StackAndUnstack) {
  const Linear all = tree::stack(std::vector<Linear>{linear(1), linear(2), linear(3)});
  EXPECT_EQ(all.w.shape(), (Shape{3, 2}));
  EXPECT_EQ(all.b.to_vector<float>(), (std::vector<float>{1, 2, 3}));
  const std::vector<Linear> parts = tree::unstack(all);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[2].w.to_vector<float>(), (std::vector<float>{3, 3}));
  EXPECT_THROW(tree::stack(std::vector<Linear>{}), ValueError);
  EXPECT_THROW(tree::stack(std::vector<Node>{{np::array(1.f), {}}, {np::array(1.f), {{np::array(1.f), {}}}}}),
               TreeError);
  EXPECT_THROW(tree::unstack(Linear{{}, np::ones({2}), np::ones({3})}), ShapeError);
}
TEST(Trials, Item25Transpose) {
  const std::vector<std::pair<Array, Linear>> rows{{np::array(1.f), linear(2)}, {np::array(3.f), linear(4)}};
  const auto columns = tree::transpose(rows);
  static_assert(std::is_same_v<decltype(columns), const std::tuple<std::vector<Array>, std::vector<Linear>>>);
  EXPECT_EQ(std::get<0>(columns)[1].item<float>(), 3.f);
  EXPECT_EQ(std::get<0>(tree::transpose(columns)[1]).item<float>(), 3.f);
  const std::map<std::string, std::vector<Array>> named{{"a", {np::array(1.f), np::array(2.f)}},
                                                        {"b", {np::array(3.f), np::array(4.f)}}};
  EXPECT_EQ(tree::transpose(named)[1].at("b").item<float>(), 4.f);
  EXPECT_EQ(tree::transpose(tree::transpose(named)).at("a")[1].item<float>(), 2.f);
  EXPECT_EQ(std::get<0>(std::get<1>(tree::transpose(std::pair{std::tuple{np::array(1.f), np::array(2.f)},
                                                              std::tuple{np::array(3.f), np::array(4.f)}})))
                .item<float>(),
            2.f);
  EXPECT_THROW(tree::transpose(std::vector<std::vector<Array>>{{np::array(1.f)}, {}}), TreeError);
}
