#include "backend/gpu/codegen/shader.hpp"

#include "compiler/memory.hpp"
#include "core/error.hpp"

namespace cotan::gpu {

namespace {
constexpr char mark = '\x01';   ///< before and after the number of a slot
constexpr char given = '\x02';  ///< where the shader takes what it is given

/// Names for what the call gives.
std::string given_lines(const Shader& shader, const Dialect& d) {
  const std::size_t slots = shader.own_slots();
  std::string out;
  const auto let = [&](const std::string& name, const std::string& value) { out += "  " + d.let(name, value) + "\n"; };
  const auto integer = [](const std::string& word) { return fmt::format("i32({})", word); };
  let("zero", d.given(0));
  if (shader.instances > 1) let("own", fmt::format("1u + group.z * {}u", slots));
  for (std::size_t k = 0; k < slots; ++k)
    let(fmt::format("b{}", k),
        integer(shader.instances > 1 ? d.given_at(fmt::format("own + {}u", k)) : d.given(1 + k)));
  for (std::size_t k = 0; k < shader.indices.size(); ++k)
    let(fmt::format("index{}", k), integer(d.given(1 + shader.slots.size() + k)));
  return out;
}

/// The number that a sum of numbers is; nothing where a term is none.
std::optional<std::int64_t> number_of(const std::string& sum) {
  std::int64_t number = 0;
  for (std::size_t at = 0; at < sum.size();) {
    const std::size_t end = std::min(sum.find(" + ", at), sum.size());
    const std::string term = sum.substr(at, end - at);
    if (term.empty() || term.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    number += std::stoll(term);
    at = end + 3;
  }
  return number;
}
}  // namespace

std::string with_blocks(const Shader& shader, const std::vector<int>& blocks, const Dialect& dialect) {
  int count = 0;
  for (int b : blocks) count = std::max(count, b + 1);
  std::string out = dialect.preamble(
      {.blocks = count, .vectors = shader.vectors, .words = shader.words(), .subgroups = shader.subgroups});
  for (std::size_t at = 0; at < shader.text.size();) {
    const std::size_t next = shader.text.find_first_of(std::string{mark, given}, at);
    if (next != std::string::npos && shader.text[next] == given) {
      out.append(shader.text, at, next - at);
      out += given_lines(shader, dialect);
      at = next + 1;
      continue;
    }
    if (next == std::string::npos) {
      out.append(shader.text, at);
      break;
    }
    out.append(shader.text, at, next - at);
    const std::size_t end = shader.text.find(mark, next + 1);
    const int slot = std::stoi(shader.text.substr(next + 1, end - next - 1));
    out += "m" + std::to_string(blocks[static_cast<std::size_t>(slot)]);
    at = end + 1;
  }
  return out;
}

std::array<std::uint32_t, 3> grid(std::int64_t count, std::uint32_t most) {
  if (count <= most) return {static_cast<std::uint32_t>(count), 1, 1};
  const std::int64_t rows = (count + most - 1) / most;
  return {static_cast<std::uint32_t>((count + rows - 1) / rows), static_cast<std::uint32_t>(rows), 1};
}

ShaderBuilder::ShaderBuilder(const Program& program, std::string name, const Capabilities& device)
    : body(*device.dialect, {.fma = !device.fused_fma, .reals = device.software}),
      subgroup_size(device.subgroup_size),
      program_(program),
      group_bytes_(device.workgroup_bytes),
      block_bytes_(static_cast<std::int64_t>(device.block_bytes())),
      name_(std::move(name)) {
  body.load = [this](const expr::Node& load, const std::string& offset) {
    return loaded(static_cast<BufferId>(load.bits), load.dtype, offset);
  };
  body.open("");  // the function
}

void ShaderBuilder::share(const std::string& name, const std::string& type, std::int64_t count) {
  if (!shared_.insert(name).second) return;
  shared_bytes_ += shared_bytes(std::max<std::int64_t>(count, 1));
  declare_shared(name, type, count);
}

int ShaderBuilder::slot_of(BufferId b, std::int64_t arena) {
  const Slot slot{b, arena};
  for (std::size_t k = 0; k < slots_.size(); ++k)
    if (slots_[k] == slot) return static_cast<int>(k);
  slots_.push_back(slot);
  return static_cast<int>(slots_.size()) - 1;
}

BufferId ShaderBuilder::root(BufferId b) const {
  while (true) {
    if (const auto at = aliases_.find(b); at != aliases_.end()) {
      const BufferId other = at->second;
      const auto& o = program_.buffers[static_cast<std::size_t>(other)];
      if (o.storage != Storage::part) return other;
      b = o.whole;  // the other's own memory, not back again
      continue;
    }
    const auto& buffer = program_.buffers[static_cast<std::size_t>(b)];
    if (buffer.storage != Storage::part) return b;
    b = buffer.whole;
  }
}

ShaderBuilder::Place ShaderBuilder::place_of(BufferId b) {
  std::string base;
  const auto add = [&](const std::string& more) {
    if (more != "0") base += (base.empty() ? "" : " + ") + more;
  };
  while (true) {
    if (const auto at = arrays_.find(b); at != arrays_.end() && !aliases_.contains(b)) return {at->second, base, true};
    if (const auto at = aliases_.find(b); at != aliases_.end()) {
      b = at->second;
      if (const auto array = arrays_.find(b); array != arrays_.end()) return {array->second, base, true};
    }
    const auto& buffer = program_.buffers[static_cast<std::size_t>(b)];
    if (buffer.storage == Storage::part) {
      add(body.value(buffer.start));
      b = buffer.whole;
      continue;
    }
    if (buffer.storage == Storage::arena && whole_arena) {
      const int slot = slot_of(-1, buffer.place / block_bytes_);
      add(fmt::format("b{}", slot));
      add(std::to_string(buffer.place % block_bytes_ / static_cast<std::int64_t>(element_bytes)));
      if (buffer.copies > 1)
        add(fmt::format("{} * {}", body.value(buffer.copy),
                        compiler::stride_of(buffer) / static_cast<std::int64_t>(element_bytes)));
      return {fmt::format("{}{}{}", mark, slot, mark), base, false};
    }
    if (buffer.storage != Storage::input && buffer.storage != Storage::output && buffer.storage != Storage::arena)
      raise<InternalError>("[gpu] a value has no memory; this is a bug in cotan.");
    const int slot = slot_of(b);
    add(fmt::format("b{}", slot));
    if (buffer.copies > 1)
      add(fmt::format("{} * {}", body.value(buffer.copy),
                      compiler::stride_of(buffer) / static_cast<std::int64_t>(element_bytes)));
    return {fmt::format("{}{}{}", mark, slot, mark), base, false};
  }
}

std::string ShaderBuilder::index_of(const Place& p, const std::string& offset) const {
  return p.base.empty() ? offset : offset == "0" ? p.base : p.base + " + " + offset;
}

/// One of the variables of an array, by a number that is known only when the shader runs.
std::string ShaderBuilder::chosen(const Place& p, const std::string& index) const {
  std::string out = p.array + "_0";
  for (std::int64_t k = 1; k < scalars_.at(p.array); ++k)
    out = fmt::format("select({}, {}_{}, ({}) == {})", out, p.array, k, index, k);
  return out;
}

std::string ShaderBuilder::read(const Place& p, const std::string& offset) const {
  const std::string index = index_of(p, offset);
  if (spread_.contains(p.array)) return body.dialect().shuffle(p.array, fmt::format("u32({})", index));
  if (!p.typed && vectors) return body.dialect().element_of_vectors(p.array, index);
  if (!p.typed || !scalars_.contains(p.array)) return fmt::format("{}[{}]", p.array, index);
  const auto number = number_of(index);
  return number ? fmt::format("{}_{}", p.array, *number) : chosen(p, index);
}

std::optional<std::string> ShaderBuilder::quad(BufferId b, Expr offset) {
  if (!vectors || whole_arena || values_.contains(b)) return std::nullopt;
  while (true) {
    if (const auto at = aliases_.find(b); at != aliases_.end()) b = at->second;
    const auto& buffer = program_.buffers[static_cast<std::size_t>(b)];
    if (arrays_.contains(b) || buffer.copies > 1) return std::nullopt;
    if (buffer.storage == Storage::part) {
      offset = offset + buffer.start;
      b = buffer.whole;
      continue;
    }
    if (buffer.storage != Storage::input && buffer.storage != Storage::output && buffer.storage != Storage::arena)
      return std::nullopt;
    if (expr::as_integer(expr::floor_mod(offset, 4)) != 0) return std::nullopt;
    const std::string number = body.value(expr::floor_div(offset, 4));
    const int slot = slot_of(b);
    return fmt::format("{}{}{}[(b{} >> 2u) + {}]", mark, slot, mark, slot, number);
  }
}

std::optional<std::string> ShaderBuilder::quad_at(BufferId b, const std::string& number) {
  if (!quad(b, expr::integer(0))) return std::nullopt;
  const std::string name = body.new_name("quad");
  body.let(name, number);
  const Expr v = expr::variable(std::int64_t{1} << 28);
  body.bind(v, name);
  return quad(b, v * expr::integer(4));
}

std::string ShaderBuilder::loaded(BufferId b, DType dtype, const std::string& offset) {
  if (const auto at = values_.find(b); at != values_.end()) {
    // Sums of halves are f32 until somebody asks for the sum.
    if (dtype == DType::f16) return body.call("cotan_round_f16", at->second);
    if (dtype == DType::bf16) return body.call("cotan_round_bf16", at->second);
    return at->second;
  }
  const Place p = place_of(b);
  const std::string element = read(p, offset);
  if (p.typed || dtype == DType::u32 || dtype == DType::u8 || dtype == DType::u16) return element;
  if (dtype == DType::bool_) return element + " != 0u";
  return body.dialect().bitcast(type_name(dtype), element);
}

std::string ShaderBuilder::store(BufferId b, DType dtype, const std::string& offset, const std::string& value) {
  const Place p = place_of(b);
  if (spread_.contains(p.array)) return fmt::format("{} = {};", p.array, value);
  const std::string index = index_of(p, offset);
  if (scalars_.contains(p.array) && !number_of(index)) {
    std::string out;
    for (std::int64_t k = 0; k < scalars_.at(p.array); ++k)
      out += fmt::format("{}if (({}) == {}) {{ {}_{} = {}; }}", k ? " " : "", index, k, p.array, k, value);
    return out;
  }
  const std::string element = read(p, offset);
  if (p.typed) return fmt::format("{} = {};", element, value);
  if (dtype == DType::bool_) return fmt::format("{} = u32({});", element, value);
  return fmt::format("{} = {};", element, body.dialect().bitcast("u32", value));
}

void ShaderBuilder::enter(const Surroundings& around, std::uint32_t threads) {
  for (Expr i : around.indices) add_index(i);
  for (const auto& [a, b] : around.swapped) {
    set_alias(a, b);
    set_alias(b, a);
  }
  for (const Surroundings::Guard& g : around.guards) {
    const DType dtype = program_.buffers[static_cast<std::size_t>(g.buffer)].type.dtype;
    const std::string there = fmt::format("u32({})", loaded(g.buffer, dtype, "0"));
    if (threads == 1) {
      body.line(fmt::format("if ({} != {}u) {{ return; }}", there, g.value));
      continue;
    }
    // All threads leave or none: what compilers can see is only this way.
    share("guard_value", "u32");
    body.line(fmt::format("if (thread == 0u) {{ guard_value = {}; }}", there));
    body.line(fmt::format("if ({} != {}u) {{ return; }}", body.dialect().uniform_load("guard_value"), g.value));
  }
}

void ShaderBuilder::add_index(Expr variable) {
  body.bind(variable, fmt::format("index{}", indices_.size()));
  indices_.push_back(variable);
}

Shader ShaderBuilder::finish(std::uint32_t threads, std::array<std::uint32_t, 3> groups) {
  Shader out;
  out.name = name_;
  out.slots = slots_;
  out.indices = indices_;
  out.groups = groups;
  out.threads = threads;
  out.vectors = vectors;
  out.subgroups = uses_subgroups;
  internal_check(room() >= 0, "a shader wants more memory for a group than the device has");
  std::vector<std::string_view> functions(body.library().begin(), body.library().end());
  std::string head = fmt::format("// {} arrays\n", slots_.size());
  head += body.dialect().library(functions);
  head += declarations;
  head += body.dialect().entry(threads);
  head += given;
  body.close();
  out.text = head + body.finish() + "}\n";
  return out;
}

}  // namespace cotan::gpu
