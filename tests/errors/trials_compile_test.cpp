// Programs that must not compile: what the compiler says, and in how many lines. Each is parsed by the compiler that
// built the tests (and by clang 19 where it is installed), with the headers parsed once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

namespace fs = std::filesystem;

struct Said {
  bool compiles;
  std::string text;
  /// With the sentence on the way to which they are read. Not counted is what clang writes after it where the overload
  /// that says it is deleted: all the others, and why each does not fit.
  std::ptrdiff_t lines(std::string_view sentence) const {
    std::ptrdiff_t count = 0;
    bool is_said = false;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      const auto has = [&](std::string_view part) { return line.find(part) != line.npos; };
      count += !is_said || !(has("note: candidate") || has("note: because"));
      is_said = is_said || has(sentence);
    }
    return count;
  }
};

class Compiler {
 public:
  explicit Compiler(std::string command)
      : command_(std::move(command) + " -std=c++20 -I" COTAN_SOURCE_DIR "/include ") {
    // Lines are counted: clang would quote two lines of the source with every step on the way, where g++ quotes none.
    if (is_clang()) command_ += "-fno-caret-diagnostics ";
    std::string name = (fs::temp_directory_path() / "cotan_refused_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    std::ofstream(folder_ / "all.hpp") << "#include <cotan/cotan.hpp>\n";
    const Said said =
        run("-x c++-header " + (folder_ / "all.hpp").string() + " -o " + (folder_ / "all.hpp.gch").string());
    EXPECT_TRUE(said.compiles) << said.text;
  }
  ~Compiler() { fs::remove_all(folder_); }
  Compiler(const Compiler&) = delete;

  /// `declarations` at namespace scope, `statements` in a function.
  Said compile(const std::string& declarations, const std::string& statements) const {
    const fs::path source = folder_ / "program.cpp";
    std::ofstream(source)
        << "#include \"all.hpp\"\nnamespace ct = cotan;\nnamespace np = cotan::numpy;\nusing ct::Array;\n"
        << declarations << "\nvoid program(Array a, Array b) {\n(void)a; (void)b;\n"
        << statements << "\n}\n";
    return run("-fsyntax-only " + (is_clang() ? "-include-pch " + (folder_ / "all.hpp.gch").string() + " " : "") +
               source.string());
  }

 private:
  bool is_clang() const { return command_.find("clang") != command_.npos; }
  Said run(const std::string& arguments) const {
    FILE* pipe = popen((command_ + arguments + " 2>&1").c_str(), "r");
    if (!pipe) return {false, "cannot start " + command_};
    std::string text;
    std::array<char, 4096> part;
    while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), n);
    return {pclose(pipe) == 0, text};
  }
  std::string command_;
  fs::path folder_;
};

const Compiler& built_with() {
  static const Compiler compiler(COTAN_CXX);
  return compiler;
}

void expect_refused(const std::string& declarations, const std::string& statements, std::string_view message,
                    std::ptrdiff_t most_lines) {
  const Said said = built_with().compile(declarations, statements);
  EXPECT_FALSE(said.compiles) << statements << " compiles";
  EXPECT_NE(said.text.find(message), said.text.npos) << statements << " says:\n" << said.text;
  EXPECT_LE(said.lines(message), most_lines) << said.text;
}
void expect_compiles(const Compiler& compiler, const std::string& declarations, const std::string& statements) {
  const Said said = compiler.compile(declarations, statements);
  EXPECT_TRUE(said.compiles) << statements << " says:\n" << said.text;
}

const std::string values = R"(
struct Model { Array w; std::vector<Array> layers; };
Array make() { return np::ones({2}); }
)";
// What must go on compiling, in the same breath.
const std::string uses_of_values = R"(
  a = b; a = 5.0; a = np::zeros({2}); a += 1; a -= b; a *= 2.0; a /= b;
  a = a.at(0).set(5.0); a = a.at(1, 1).add(3.0);
  Array c = std::move(a); a = std::move(c); std::swap(a, b); a = make();
  Model m; m.w = a; m.w += 1; m.layers.push_back(a); m.layers[0] = b; m.layers.back() *= 2; m = Model{a, {b}};
  std::map<std::string, Array> named; named["x"] = a; named["x"] += 1;
  auto&& r = make(); r = b; r += 1;
  std::vector<Array> many(3); std::sort(many.begin(), many.end(), [](const Array& x, const Array& y) { return x.size() < y.size(); });
  auto [x, y] = std::pair{a, b}; x = y; std::tie(x, y) = std::pair{b, a};
  std::optional<Array> maybe; maybe = a; *maybe = b; std::get<0>(std::tuple<Array&, int>(a, 1)) = b;
  for (Array& e : many) e = a;
  if (bool(np::all(a == b))) a = [&] { return b; }();
)";

}  // namespace

TEST(Trials, Item17AssignmentToTemporaries) {
  constexpr std::string_view set = ".at(i).set(x)";
  for (const char* statement :
       {"a[0] = 5.0;", "a(1, 1) = 7.0;", "a[1] += 3.0;", "a[1] -= b;", "a(0) *= 2;", "a[0] /= 2;", "a[0] = b;",
        "a.reshape({2}) = b;", "a.at(0) = 5.0;", "a.at(0) += b;", "(a + b) = a;", "a.T() = b[0];"})
    expect_refused("", statement, set, 12);
  expect_compiles(built_with(), values, uses_of_values);
  // And what is a new Array must be taken.
  const Said dropped = built_with().compile("", "a.at(0).set(5.0);");
  EXPECT_NE(dropped.text.find("at(i).set(x) gives a new Array; assign it"), dropped.text.npos) << dropped.text;
}

TEST(Trials, Item25OneLineSaysWhatAPytreeMayBe) {
  const std::string loss = "\nArray loss(const Model& m, const Array& x) { return np::sum(x); }";
  const std::string hidden = "class Model { Array w; public: Array b; };" + loss;
  const std::string call = "auto g = ct::grad(loss)(Model{}, a);";
  expect_refused(hidden, call, "needs COTAN_TREE(field, …) inside", 13);
  expect_refused(hidden, "auto g = ct::jit(ct::grad(loss))(Model{}, a);", "needs COTAN_TREE(field, …) inside", 13);
  expect_refused(hidden, "auto [v, g] = ct::value_and_grad(loss)(Model{}, a); auto h = ct::vmap(loss)(Model{}, a);",
                 "needs COTAN_TREE(field, …) inside", 13);
  expect_refused(hidden, "auto g = ct::tree::leaves(std::vector<std::tuple<int, Model>>());",
                 "needs COTAN_TREE(field, …) inside", 18);
  expect_refused("struct Module { int n; }; struct Model : Module { Array w; };" + loss, call,
                 "COTAN_TREE_DERIVED(Base, field, …)", 13);
  expect_refused("struct Model { Array* w; };" + loss, call, "a pytree is an Array, number, string or enum, or a tuple",
                 16);
  expect_refused("struct Model { Array w; Model(int) {} auto tree_fields() const { return std::tuple(w); } };" + loss,
                 "auto g = ct::grad(loss)(Model(1), a);", "return std::tie(field, …)", 13);
  expect_refused("struct Model { Array w; std::unique_ptr<int> p; COTAN_TREE(w) };" + loss,
                 "auto g = ct::grad(loss)(Model(), a);", "must be copyable", 13);
}
TEST(Trials, Item25OneLineSaysWhatDoesNotFit) {
  constexpr std::string_view takes_arrays =
      "the_function_must_take_Arrays_or_pytrees_of_Arrays_where_it_is_differentiated";
  expect_refused("", "auto g = ct::grad([](int x) { return x * x; })(3);", takes_arrays, 12);
  expect_refused("int f(int x) { return x; }", "auto g = ct::hessian(f)(3);", takes_arrays, 12);
  expect_refused("", "auto g = ct::grad([](Array) { return 3; })(a);",
                 "grad: the function must return one scalar Array", 18);
  constexpr std::string_view other_arguments = "the_function_takes_other_arguments_or_another_number_of_them";
  expect_refused("Array f(Array x) { return x; }", "auto y = ct::vmap(f)(a, 2);", other_arguments, 12);
  expect_refused("Array f(Array x) { return x; }", "auto y = ct::jit(f)(std::string(\"x\"));", other_arguments, 12);
}

TEST(Trials, OneLineSaysWhatARuleMustReturn) {
  const std::string square = "\nArray f(Array x) { return x * x; } Array back(Array r, Array ct) { return r * ct; }";
  constexpr std::string_view pair = "custom_vjp: forward must return std::pair{output, residuals}";
  expect_refused("Array forward(Array x) { return x; }" + square, "auto y = ct::custom_vjp(f, forward, back)(a);", pair,
                 18);
  expect_refused("Array forward(Array x) { return x; }" + square,
                 "auto y = ct::jit(ct::grad(ct::custom_vjp(f, forward, back)))(a);", pair, 24);
  expect_refused("std::pair<Array, Array> forward(Array x, Array y) { return {x, y}; }" + square,
                 "auto y = ct::custom_vjp(f, forward, back)(a);",
                 "custom_vjp: forward must take the arguments of the function", 18);
  constexpr std::string_view step = "scan: the function must return std::pair{next carry, y}";
  expect_refused("", "auto y = ct::lax::scan([](Array c, Array x) { return c + x; }, a, b);", step, 12);
  expect_refused("", "auto [c, y] = ct::lax::scan([](Array c, Array x) { return std::tuple{c, x, x}; }, a, b);", step,
                 12);
  expect_refused("", "Array c = ct::lax::scan([](Array c, Array x) { return c + x; }, a, b).first;", step, 12);
}
// g++ 12 made a list of axes of such options, and dropped the name: np::std(a, {.ddof = 1}) was along axis 1.
TEST(Trials, NamesOfOptionsAreNotDropped) {
  for (const char* call : {"np::sum(a, {.dim = 0});", "np::mean(a, {.keepdim = true});", "np::std(a, {.dof = 1});",
                           "np::squeeze(a, {.foo = 2});", "ct::nn::log_softmax(a, {.dim = 0});"})
    EXPECT_FALSE(built_with().compile("", call).compiles) << call;
  for (const char* call : {"np::std(a, {.ddof = 1});", "np::sum(a, {0, 1});", "np::sum(a, {-1});", "np::sum(a, {});"})
    expect_compiles(built_with(), "", call);
}
TEST(Trials, OneLineSaysWhatAFunctionMustTake) {
  expect_refused("", "ct::jit([](Array x) { x = x + 1; })(a);", "the function returns nothing", 20);
  expect_refused("", "ct::grad<2>([](Array x, Array y) { return np::sum(x * y); })(a, b);", "they count from 0", 20);
  expect_refused("", "ct::lax::fori_loop(0, 3, [](Array v) { return v; }, a);", "must take (Array index, carry)", 12);
  expect_refused("", "ct::lax::cond(a, [](Array v) { return v; }, [](Array v, Array w) { return v + w; }, b);",
                 "every branch must take the arguments", 12);
}
TEST(Trials, OneLineSaysThatFunctionsAreNoArguments) {
  constexpr std::string_view function = "pytree: a function (a lambda, a function's name, a std::function) is no Array";
  const std::string f =
      "Array g(Array x) { return x; } template <class G> Array f(const G& g, Array x) { return g(x); }";
  const std::string call = "auto h = ct::jit([](const auto& g, Array x) { return g(x); });";
  expect_refused(f, call + "auto y = h([](Array x) { return x; }, a);", function, 14);
  expect_refused(f, call + "auto y = h([](auto x) { return x; }, a);", function, 14);
  expect_refused(f, call + "auto y = h([b](auto x) { return x + b; }, a);", function, 14);
  expect_refused(f, call + "auto y = h(g, a);", function, 14);
  expect_refused(f, call + "auto y = h(&g, a);", function, 14);
  expect_refused(f, call + "auto y = h(std::function<Array(Array)>(g), a);", function, 14);
  expect_refused(f, call + "auto y = h(ct::jit(g), a);", function, 14);
  expect_refused("", "auto y = ct::grad([](Array x, const auto& g) { return g(x); })(a, [](Array x) { return x; });",
                 function, 14);
  expect_refused("", "auto y = ct::jit([](Array x) { return x; })([](Array x) { return x; });", function, 14);
  // A layer that can be called is a pytree still.
  expect_compiles(built_with(), "struct Linear { Array w; Array operator()(Array x) const { return x * w; } };",
                  "auto y = ct::jit([](const Linear& l, Array x) { return l(x); })(Linear{a}, b); (void)y;");
}

TEST(Trials, Item27CompilersWithoutSourceLocation) {
  // The sentence of the headers is that of CMakeLists.txt and README.
  constexpr std::string_view sentence = "g++ 12 or newer, or clang 16 or newer (Debian 12's clang is 14)";
  for (const char* file : {"include/cotan/call_site.hpp", "CMakeLists.txt", "README.md"}) {
    std::ifstream in(std::string(COTAN_SOURCE_DIR "/") + file);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    EXPECT_NE(text.find(sentence), text.npos) << file;
  }
  // A compiler that does not have it is stopped there, before anything else is parsed.
  const Said said = built_with().compile("", "");
  EXPECT_TRUE(said.compiles) << said.text;
  FILE* pipe = popen(COTAN_CXX " -std=c++17 -fsyntax-only -x c++ -I" COTAN_SOURCE_DIR
                               "/include -include cotan/cotan.hpp /dev/null 2>&1",
                     "r");
  std::string text;
  std::array<char, 4096> part;
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), n);
  EXPECT_NE(pclose(pipe), 0);
  const std::size_t first = text.find("error");
  ASSERT_NE(first, text.npos) << text;
  EXPECT_NE(text.substr(first, 200).find(sentence), text.npos) << text.substr(0, 2000);
}

TEST(Trials, Item25OnClang) {
  if (std::system("clang++-19 --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no clang++-19";
  const Compiler clang("clang++-19");
  expect_compiles(clang, values, uses_of_values);
  expect_compiles(clang,
                  "struct Base {}; struct Linear : Base { Array weight, bias; };\nclass Net { Array w_; public: "
                  "Net(int) {} COTAN_TREE(w_) };",
                  R"(
    static_assert(ct::tree::Tree<Linear> && ct::tree::Tree<Net>);
    static_assert(ct::tree::detail::last_name(ct::tree::detail::spelling<ct::tree::detail::field_pointer<Linear, 1>()>()) == "bias");
    auto g = ct::jit(ct::grad([](Linear l, Array x) { return np::sum(l.weight * x); }))(Linear{{}, a, b}, a); (void)g;)");
}
