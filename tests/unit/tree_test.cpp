// Pytrees: containers and structs, their leaves, paths and structure.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>

namespace np = cotan::numpy;
using namespace cotan;

namespace {

enum class Activation { relu, tanh };
struct Linear {
  Array w, b;
};
struct Config {
  int heads = 2;
  double dropout = 0.5;
  std::string name = "net";
  Activation activation = Activation::tanh;
  bool causal = true;
};
struct Model {
  std::vector<Linear> layers;
  std::map<std::string, Array> extra;
  std::optional<Array> bias;
  Config config;
  std::tuple<Array, std::pair<Array, int>> rest;
  std::array<Array, 2> ends;
};
struct Empty {};
struct One {
  Array only;
};
struct Wide {
  Array a, b, c, d, e, f, g, h, i, j, k, l;
};

Array scalar(float v) { return np::array(v); }
Model model() {
  return {{{scalar(1), scalar(2)}, {scalar(3), scalar(4)}},
          {{"x", scalar(6)}, {"a", scalar(5)}},
          scalar(7),
          {},
          {scalar(8), {scalar(9), 3}},
          {scalar(10), scalar(11)}};
}
std::vector<float> values(const std::vector<Array>& arrays) {
  std::vector<float> out;
  for (const Array& a : arrays) out.push_back(a.item<float>());
  return out;
}

}  // namespace

TEST(Tree, LeavesInOrder) {
  EXPECT_EQ(values(tree::leaves(model())), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}
TEST(Tree, Paths) {
  EXPECT_EQ(tree::paths(model()),
            (std::vector<std::string>{".layers[0].w", ".layers[0].b", ".layers[1].w", ".layers[1].b", ".extra[\"a\"]",
                                      ".extra[\"x\"]", ".bias", ".rest[0]", ".rest[1][0]", ".ends[0]", ".ends[1]"}));
  EXPECT_EQ(tree::paths(scalar(1)), std::vector<std::string>{""});
  EXPECT_EQ(tree::paths(std::map<int, Array>{{3, scalar(1)}}), std::vector<std::string>{"[3]"});
}
TEST(Tree, StructureHasSizesKeysAndStaticValues) {
  const Model m = model();
  Model other = m;
  EXPECT_EQ(tree::structure(m), tree::structure(other));
  other.config.heads = 3;
  EXPECT_NE(tree::structure(m), tree::structure(other));
  other = m;
  other.config.activation = Activation::relu;
  EXPECT_NE(tree::structure(m), tree::structure(other));
  other = m;
  other.bias.reset();
  EXPECT_NE(tree::structure(m), tree::structure(other));
  other = m;
  other.layers.pop_back();
  EXPECT_NE(tree::structure(m), tree::structure(other));
  EXPECT_EQ(tree::structure(Linear{}), "{.w=*,.b=*,}");
  EXPECT_EQ(tree::structure(std::tuple{scalar(1), 2, std::string("s")}), "(*,2,\"1:s\",)");
}
TEST(Tree, StructureTellsStringsAndNumbersApart) {
  EXPECT_NE(tree::structure(std::tuple{1, 1.0}), tree::structure(std::tuple{1.0, 1}));
  EXPECT_NE(tree::structure(std::tuple{std::string("a,"), std::string("")}),
            tree::structure(std::tuple{std::string("a"), std::string(",")}));
  EXPECT_NE(tree::structure(std::tuple{0.1, 0}), tree::structure(std::tuple{0.1 + 1e-17 + 1e-16, 0}));
  EXPECT_NE(tree::structure(std::tuple{0.0}), tree::structure(std::tuple{-0.0}));
}
TEST(Tree, UnflattenKeepsStaticParts) {
  Model like = model();
  like.config.heads = 8;
  std::vector<Array> with;
  for (int i = 0; i < 11; ++i) with.push_back(scalar(static_cast<float>(20 + i)));
  const Model m = tree::unflatten(like, with);
  EXPECT_EQ(m.config.heads, 8);
  EXPECT_EQ(std::get<1>(m.rest).second, 3);
  EXPECT_EQ(m.layers[1].b.item<float>(), 23.f);
  EXPECT_EQ(m.ends[1].item<float>(), 30.f);
  const auto [leaves, structure] = tree::flatten(m);
  EXPECT_EQ(leaves.size(), 11u);
  EXPECT_EQ(structure, tree::structure(like));
}
TEST(Tree, Map) {
  const Model m = tree::map([](Array x) { return x * 2; }, model());
  EXPECT_EQ(values(tree::leaves(m)), (std::vector<float>{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}));
  const Model d = tree::map([](Array a, Array b, Array c) { return a - b + c; }, m, model(), model());
  EXPECT_EQ(values(tree::leaves(d)), values(tree::leaves(m)));
}
TEST(Tree, BlankKeepsNoMemory) {
  const auto before = memory_stats().live_buffers;
  const Model b = tree::blank(model());
  EXPECT_EQ(memory_stats().live_buffers, before);
  for (const Array& a : tree::leaves(b)) EXPECT_FALSE(a.defined());
  EXPECT_EQ(tree::structure(b), tree::structure(model()));
}
TEST(Tree, SmallAndWideStructs) {
  EXPECT_TRUE(tree::leaves(Empty{}).empty());
  EXPECT_EQ(tree::paths(One{scalar(1)}), std::vector<std::string>{".only"});
  Wide w;
  EXPECT_EQ(tree::leaves(w).size(), 12u);
  EXPECT_EQ(tree::paths(w)[11], ".l");
}
TEST(Tree, ThroughTransforms) {
  const auto loss = [](const Model& m) {
    Array total = np::array(0.f);
    tree::for_each(m, [&](const Array& a) { total = total + a * a; });
    return total * m.config.dropout;
  };
  const Model g = jit(grad(loss))(model());
  EXPECT_EQ(values(tree::leaves(g)), values(tree::leaves(model())));
  EXPECT_EQ(g.config.name, "net");
  const auto [value, g2] = value_and_grad(loss)(model());
  EXPECT_EQ(value.item<float>(), 253.f);
  EXPECT_EQ(values(tree::leaves(g2)), values(tree::leaves(g)));
  const Model doubled = jit([](Model m) { return tree::map([](Array x) { return x * 2; }, m); })(model());
  EXPECT_EQ(doubled.bias->item<float>(), 14.f);
  EXPECT_EQ(doubled.extra.at("x").item<float>(), 12.f);
}
TEST(Tree, VmapOverAStruct) {
  const Linear batch{np::ones({4, 3}), np::arange(4, f32)};
  const Array y = vmap([](const Linear& l) { return np::sum(l.w) + l.b; })(batch);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{3, 4, 5, 6}));
  const Linear out = vmap([](const Linear& l) { return Linear{l.b, l.w}; }, {.in_axes = {{0, none}}})(batch);
  EXPECT_EQ(out.w.shape(), (Shape{4, 4}));
}
TEST(Tree, MovesBetweenDevices) {
  struct Model {
    Array w, b;
    int layers;
  };
  const Model model{np::array({1.f, 2.f}), np::array({3.f}), 2};
  const Model there = device_put(block_until_ready(model), "reference");
  copy_to_host_async(there);
  EXPECT_EQ(there.w.device().name(), "reference");
  EXPECT_EQ(there.b.device().name(), "reference");
  EXPECT_EQ(there.layers, 2);
  EXPECT_EQ(block_until_ready(std::pair{there.w, there.b}).first.to_vector<float>(), (std::vector<float>{1, 2}));
}
