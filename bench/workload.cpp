// The registry of workloads and the input generator that all peers share.
#include "workload.hpp"

#include <map>
#include <set>

namespace bench {

namespace {

using Key = std::pair<std::string, std::string>;
std::map<Key, Maker>& registry() {
  static std::map<Key, Maker> makers;
  return makers;
}

}  // namespace

Register::Register(std::string_view peer, std::string_view kind, Maker make) {
  registry().emplace(Key(peer, kind), std::move(make));
}

const Maker* find_maker(std::string_view peer, std::string_view kind) {
  // A peer whose one function serves every row registers it as "*".
  for (const std::string_view name : {kind, std::string_view("*")})
    if (const auto found = registry().find(Key(peer, name)); found != registry().end()) return &found->second;
  return nullptr;
}

std::vector<std::string> peers() {
  std::set<std::string> names;
  for (const auto& [key, make] : registry()) names.insert(key.first);
  return {names.begin(), names.end()};
}

std::uint32_t hash(std::uint32_t position, std::uint32_t seed) {
  std::uint32_t h = position * 0x9E3779B1u + seed * 0x85EBCA77u;
  h = (h ^ (h >> 16)) * 0x7FEB352Du;
  h = (h ^ (h >> 15)) * 0x846CA68Bu;
  return h ^ (h >> 16);
}

std::vector<std::int32_t> indices(std::size_t size, std::uint32_t seed, std::uint32_t bound) {
  std::vector<std::int32_t> out(size);
  for (std::size_t i = 0; i < size; ++i)
    out[i] = static_cast<std::int32_t>(hash(static_cast<std::uint32_t>(i), seed) % bound);
  return out;
}

}  // namespace bench
