// cotan-gpt train.
#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "../support/svg_plot.hpp"
#include "commands.hpp"
#include "load.hpp"
#include "meter.hpp"
#include "texts.hpp"

namespace gpt {

namespace fs = std::filesystem;

namespace {

volatile std::sig_atomic_t interrupted = 0;

/// What has happened so far, and goes into checkpoints and pictures.
struct History {
  std::vector<double> steps, losses, held_steps, held_losses;
  nlohmann::json json() const {
    return {{"steps", steps}, {"losses", losses}, {"held_steps", held_steps}, {"held_losses", held_losses}};
  }
  static History from(const nlohmann::json& j) {
    return {j.at("steps"), j.at("losses"), j.at("held_steps"), j.at("held_losses")};
  }
};

double learning_rate(const TrainOptions& o, std::int64_t step) {
  if (step < o.warmup) return o.lr * static_cast<double>(step + 1) / static_cast<double>(o.warmup);
  const double share =
      static_cast<double>(step - o.warmup) / static_cast<double>(std::max<std::int64_t>(o.steps - o.warmup, 1));
  return o.min_lr + 0.5 * (o.lr - o.min_lr) * (1 + std::cos(std::numbers::pi * std::min(share, 1.0)));
}

Config chosen_config(const TrainOptions& o, std::size_t vocabulary) {
  Config c = named_config(o.size);
  c.vocab_size = static_cast<std::int64_t>(vocabulary);
  c.n_layer = o.layers.value_or(c.n_layer);
  c.n_embd = o.width.value_or(c.n_embd);
  c.n_head = o.heads.value_or(c.n_head);
  c.n_positions = o.context.value_or(c.n_positions);
  return c;
}

void check(const TrainOptions& o) {
  if (o.lora > 0 && o.from.empty()) throw UsageError("--lora adds to weights that are there; name them by --from.");
  if (!o.amp.empty() && o.amp != "bf16" && o.amp != "f16")
    throw UsageError(fmt::format("--amp is bf16 or f16, not '{}'; leave it out for 32 bits.", o.amp));
  for (const auto& [name, value] : {std::pair{"--steps", o.steps},
                                    {"--batch", o.batch},
                                    {"--accumulate", o.accumulate},
                                    {"--save-every", o.save_every},
                                    {"--eval-every", o.eval_every},
                                    {"--keep", o.keep}})
    if (value < 1) throw UsageError(fmt::format("{} is {}; it must be at least 1.", name, value));
  if (!(o.held_out >= 0 && o.held_out < 0.9))
    throw UsageError("--held-out is a share; it must be at least 0 and below 0.9.");
}

/// A run: network, optimizer, texts, and where it stands.
class Training {
 public:
  explicit Training(const TrainOptions& options) : o_(options) { begin(); }

  void run() {
    Meter meter(step_, o_.steps, o_.batch * o_.accumulate * net_->config.n_positions, o_.quiet);
    const auto former = std::signal(SIGINT, [](int) { interrupted = 1; });
    for (; step_ < o_.steps && !interrupted; ++step_) {
      const Tensor loss = one_step();
      const double value = loss.item();
      if (!std::isfinite(value)) {
        meter.finish();
        throw std::runtime_error(
            fmt::format("the loss of step {} is {}; the last checkpoint is as it was. A lower --lr or --clip may help",
                        step_ + 1, value));
      }
      history_.steps.push_back(static_cast<double>(step_ + 1));
      history_.losses.push_back(value);
      meter.update(step_, value);
      const bool last = step_ + 1 == o_.steps;
      if (texts_->held_out_tokens() > 0 && ((step_ + 1) % o_.eval_every == 0 || last)) look_at_held_out(meter);
      if ((step_ + 1) % o_.save_every == 0 || last) save();
    }
    meter.finish();
    std::signal(SIGINT, former);
    if (interrupted) {
      save();
      std::cerr << fmt::format("stopped after step {}; the same command goes on from there.\n", step_);
    }
  }
  std::int64_t step() const { return step_; }

 private:
  void begin() {
    check(o_);
    const auto last = o_.fresh ? std::nullopt : last_checkpoint(o_.out);
    std::optional<Checkpoint> saved;
    std::optional<Loaded> source;
    if (last) {
      saved = load_checkpoint(*last);
      tokenizer_ = cotan::Tokenizer::from_json(saved->tokenizer);
    } else if (!o_.from.empty()) {
      source = load_model(model_folder(o_.from));
      tokenizer_ = source->tokenizer;
    }
    if (!last && !o_.tokenizer.empty()) tokenizer_ = cotan::Tokenizer::from_file(o_.tokenizer);
    if (!tokenizer_) tokenizer_ = learn_vocabulary(o_.files, o_.vocabulary, o_.quiet);
    Config config = last     ? config_from_json(saved->config, (*last / "config.json").string())
                    : source ? source->config
                             : chosen_config(o_, tokenizer_->vocab_size());
    config.dropout = o_.dropout;
    if (!last) config.lora_rank = o_.lora;
    if (static_cast<std::size_t>(config.vocab_size) < tokenizer_->vocab_size())
      throw std::runtime_error(fmt::format("the tokenizer has {} tokens, the model {}; they do not belong together.",
                                           tokenizer_->vocab_size(), config.vocab_size));
    if (!o_.device.empty()) cotan::default_device(o_.device == "cpu" ? "native" : o_.device);
    torch::manual_seed(o_.seed);
    net_.emplace(config);
    net_->checkpoint = o_.checkpoint;
    if (source) put_weights(*net_, source->weights, o_.from);
    if (saved) put_weights(*net_, saved->weights, last->string());
    make_optimizer();
    if (saved) restore(*saved, *last);
    texts_.emplace(o_.files, *tokenizer_, fs::path(o_.out) / "tokens",
                   TextOptions{.context = config.n_positions,
                               .batch = o_.batch,
                               .held_out = o_.held_out,
                               .seed = o_.seed,
                               .first_batch = static_cast<std::uint64_t>(step_ * o_.accumulate),
                               .quiet = o_.quiet});
    if (!o_.quiet) introduce(last);
  }
  void introduce(const std::optional<fs::path>& last) const {
    std::cerr << net_->config.describe() << "\n"
              << fmt::format("{} tokens to learn from, {} held out; {} tokens per step\n", texts_->tokens(),
                             texts_->held_out_tokens(), o_.batch * o_.accumulate * net_->config.n_positions);
    if (last) std::cerr << fmt::format("going on from {}, step {}\n", last->string(), step_);
  }
  void make_optimizer() {
    using Group = torch::optim::Group<torch::optim::AdamWOptions>;
    Group matrices{{}, {.lr = o_.lr, .betas = {0.9, 0.95}, .weight_decay = o_.weight_decay}};
    Group vectors{{}, {.lr = o_.lr, .betas = {0.9, 0.95}, .weight_decay = 0}};
    for (const auto& [name, p] : nn::named_parameters(*net_)) {
      if (net_->config.lora_rank > 0 && name.find("lora_") == name.npos) {
        p.requires_grad_(false);
        continue;
      }
      trained_.push_back(p);
      (p.dim() > 1 ? matrices : vectors).params.push_back(p);
    }
    std::vector<Group> groups{matrices};
    if (!vectors.params.empty()) groups.push_back(vectors);
    optimizer_.emplace(groups);
  }

  Tensor one_step() {
    torch::manual_seed(o_.seed * 1'000'003 + static_cast<std::uint64_t>(step_) + 1);  // dropout of a step is its own
    for (auto& group : optimizer_->param_groups()) group["lr"] = learning_rate(o_, step_);
    optimizer_->zero_grad();
    Tensor total;
    for (std::int64_t i = 0; i < o_.accumulate; ++i) {
      const cotan::TokenBatch batch = texts_->next();
      Tensor loss;
      {
        const torch::autocast lower(o_.amp == "f16" ? torch::float16 : torch::bfloat16, !o_.amp.empty());
        loss = net_->loss(torch::from(batch.tokens), torch::from(batch.targets)) / static_cast<double>(o_.accumulate);
      }
      loss.backward();
      total = total.defined() ? total + loss.detach() : loss.detach();
    }
    if (o_.clip > 0) nn::utils::clip_grad_norm_(trained_, o_.clip);
    optimizer_->step();
    return total;
  }

  void look_at_held_out(Meter& meter) {
    const double loss = texts_->held_out_loss(*net_);
    history_.held_steps.push_back(static_cast<double>(step_ + 1));
    history_.held_losses.push_back(loss);
    meter.say(fmt::format("step {}: held-out loss {:.4f}, perplexity {:.4g}", step_ + 1, loss, std::exp(loss)));
  }

  void save() {
    const std::int64_t done = static_cast<std::int64_t>(history_.steps.size());
    Checkpoint c{.step = done, .config = to_json(net_->config), .tokenizer = tokenizer_->to_json()};
    for (const auto& [name, p] : nn::named_parameters(*net_)) c.weights[name] = p.array();
    for (const auto& [name, t] : optimizer_->state_dict().state) c.optimizer[name] = t.array();
    c.state = nlohmann::json{{"step", done}, {"seed", o_.seed}, {"history", history_.json()}}.dump() + "\n";
    save_checkpoint(o_.out, c, static_cast<int>(o_.keep));
    draw();
  }
  void restore(const Checkpoint& c, const fs::path& folder) {
    try {
      const auto state = nlohmann::json::parse(c.state);
      step_ = state.at("step");
      history_ = History::from(state.at("history"));
      if (state.at("seed").get<std::uint64_t>() != o_.seed)
        std::cerr << fmt::format("note: the run began with --seed {}, now it is {}: the order of texts changes.\n",
                                 state.at("seed").get<std::uint64_t>(), o_.seed);
    } catch (const nlohmann::json::exception& e) {
      throw std::runtime_error(fmt::format("{}: {}", (folder / "state.json").string(), e.what()));
    }
    torch::optim::StateDict dict = optimizer_->state_dict();
    dict.state.clear();
    for (const auto& [name, array] : c.optimizer) dict.state[name] = torch::from(array);
    optimizer_->load_state_dict(dict);
  }
  /// loss.svg and loss.csv in the folder of the run.
  void draw() const {
    std::vector<double> smooth;
    for (const double loss : history_.losses)
      smooth.push_back(smooth.empty() ? loss : 0.95 * smooth.back() + 0.05 * loss);
    apps::Panel panel{"Loss",
                      "step",
                      "nats per token",
                      {{"each step", "#b9bec6", history_.steps, history_.losses},
                       {"running mean", "#0072B2", history_.steps, smooth}}};
    panel.legend_above = true;
    if (!history_.held_steps.empty())
      panel.series.push_back({"held out", "#D55E00", history_.held_steps, history_.held_losses, true});
    write_text(fs::path(o_.out) / "loss.svg", apps::svg_plot({panel}));
    std::string csv = "step,loss\n";
    for (std::size_t i = 0; i < history_.steps.size(); ++i)
      csv += fmt::format("{},{:.6g}\n", history_.steps[i], history_.losses[i]);
    write_text(fs::path(o_.out) / "loss.csv", csv);
  }

  const TrainOptions o_;
  std::optional<cotan::Tokenizer> tokenizer_;
  std::optional<Texts> texts_;
  std::optional<Gpt> net_;
  std::vector<Tensor> trained_;
  std::optional<torch::optim::AdamW> optimizer_;
  History history_;
  std::int64_t step_ = 0;
};

}  // namespace

void run_train(const TrainOptions& options) {
  Training training(options);
  training.run();
  if (!options.quiet)
    std::cerr << fmt::format("{} has the checkpoints and loss.svg; try: cotan-gpt generate {}\n", options.out,
                             options.out);
}

}  // namespace gpt
