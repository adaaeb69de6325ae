// cotan-gpt: trains GPT-2s, and writes with them, from the command line.
#include <CLI/CLI.hpp>
#include <iostream>

#include "commands.hpp"

namespace {

using namespace gpt;

void add_train(CLI::App& app, TrainOptions& o) {
  app.add_option("texts", o.files, "text files to learn from (UTF-8)")->required()->check(CLI::ExistingFile);
  app.add_option("-o,--out", o.out, "folder of checkpoints; training goes on from the last one there");
  app.add_option("--size", o.size, "tiny, mini, distilgpt2, gpt2, gpt2-medium, gpt2-large, gpt2-xl");
  app.add_option("--layers", o.layers, "instead of the size's");
  app.add_option("--width", o.width, "instead of the size's");
  app.add_option("--heads", o.heads, "instead of the size's");
  app.add_option("--context", o.context, "tokens that the model sees");
  app.add_option("--from", o.from, "folder with config.json and model.safetensors to start from");
  app.add_option("--tokenizer", o.tokenizer, "a tokenizer.json; by default a vocabulary is learned from the texts");
  app.add_option("--vocabulary", o.vocabulary, "size of a vocabulary that is learned");
  app.add_option("--steps", o.steps, "steps of the optimizer");
  app.add_option("--batch", o.batch, "sequences per step");
  app.add_option("--accumulate", o.accumulate, "batches per step");
  app.add_option("--lr", o.lr, "highest learning rate");
  app.add_option("--min-lr", o.min_lr, "learning rate at the end");
  app.add_option("--warmup", o.warmup, "steps until the highest learning rate");
  app.add_option("--weight-decay", o.weight_decay, "of matrices");
  app.add_option("--clip", o.clip, "largest norm of the gradient; 0: any");
  app.add_option("--dropout", o.dropout, "share of activations that are dropped");
  app.add_option("--seed", o.seed, "of weights, order of the texts and dropout");
  app.add_option("--device", o.device, "cpu or webgpu");
  app.add_option("--amp", o.amp, "lower precision of products: bf16 or f16");
  app.add_flag("--checkpoint", o.checkpoint, "less memory: layers are computed again in the backward pass");
  app.add_option("--lora", o.lora, "train only matrices of this rank beside the weights (needs --from)");
  app.add_option("--save-every", o.save_every, "steps between checkpoints");
  app.add_option("--keep", o.keep, "how many checkpoints are kept");
  app.add_option("--eval-every", o.eval_every, "steps between losses on the held-out part");
  app.add_option("--held-out", o.held_out, "share of the texts that is not trained on");
  app.add_flag("--fresh", o.fresh, "begin anew though there are checkpoints");
  app.add_flag("-q,--quiet", o.quiet, "no progress");
}
void add_generate(CLI::App& app, GenerateOptions& o) {
  app.add_option("model", o.model, "folder of a run, of a checkpoint, or with model.safetensors")->required();
  app.add_option("prompt", o.prompt, "text to go on from");
  app.add_option("-n,--tokens", o.sampling.tokens, "how many tokens");
  app.add_option("-t,--temperature", o.sampling.temperature, "0: always the most likely token");
  app.add_option("--top-k", o.sampling.top_k, "among the k most likely tokens; 0: all");
  app.add_option("--top-p", o.sampling.top_p, "among the most likely tokens with this probability together");
  app.add_option("--seed", o.sampling.seed, "of the draws");
  app.add_option("--samples", o.sampling.samples, "how many texts, side by side");
  app.add_option("--device", o.device, "cpu or webgpu");
  app.add_flag("!--no-stream", o.stream, "print the text when it is complete");
}
void add_eval(CLI::App& app, EvalOptions& o) {
  app.add_option("model", o.model, "folder of a run, of a checkpoint, or with model.safetensors")->required();
  app.add_option("texts", o.files, "text files")->required()->check(CLI::ExistingFile);
  app.add_option("--batch", o.batch, "sequences per call");
  app.add_option("--stride", o.stride, "tokens between sequences; by default the context, less gives longer contexts");
  app.add_option("--device", o.device, "cpu or webgpu");
}
void add_tokenize(CLI::App& app, TokenizeOptions& o) {
  app.add_option("tokenizer", o.tokenizer,
                 "a tokenizer.json, or a folder that has one; with --train where it is written")
      ->required();
  app.add_option("texts", o.files, "text files; without any, standard input");
  app.add_flag("--ids", o.ids, "numbers instead of tokens");
  app.add_flag("--count", o.count, "only how many there are");
  app.add_flag_callback("--train", [&o] { o.train_to = "yes"; }, "learn a vocabulary from the texts");
  app.add_option("--vocabulary", o.vocabulary, "its size");
}
void add_inspect(CLI::App& app, InspectOptions& o) {
  app.add_option("path", o.path, "a .safetensors file, an index of shards, or a folder")->required();
  app.add_flag("--statistics", o.statistics, "mean, deviation, least and largest element of each tensor");
}
void add_demo(CLI::App& app, DemoOptions& o) {
  app.add_option("-o,--out", o.out, "where checkpoints and pictures go");
  app.add_option("--steps", o.steps, "steps of the optimizer");
  app.add_option("--device", o.device, "cpu or webgpu");
}

/// What is wrong, behind the command that it is about.
std::string message(const std::string& command, const std::string& what) {
  return "cotan-gpt: " + (what.starts_with("[") ? what : "[" + command + "] " + what) + "\n";
}

int run(int argc, char** argv) {
  CLI::App app("Trains GPT-2s, and writes with them.", "cotan-gpt");
  app.set_version_flag("--version", "cotan-gpt " COTAN_VERSION);
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  TrainOptions train;
  GenerateOptions generate;
  EvalOptions eval;
  TokenizeOptions tokenize;
  InspectOptions inspect;
  DemoOptions demo;
  add_train(*app.add_subcommand("train", "learn from text files"), train);
  add_generate(*app.add_subcommand("generate", "write a text"), generate);
  add_eval(*app.add_subcommand("eval", "the perplexity of texts"), eval);
  add_tokenize(*app.add_subcommand("tokenize", "texts as tokens, or a vocabulary from texts"), tokenize);
  add_inspect(*app.add_subcommand("inspect", "what is in safetensors files"), inspect);
  add_demo(*app.add_subcommand("demo", "trains a small model on sentences about numbers, and lets it talk"), demo);
  std::string command = "options";
  try {
    app.parse(argc, argv);
    command = app.get_subcommands().front()->get_name();
    if (command == "train") run_train(train);
    if (command == "generate") run_generate(generate);
    if (command == "eval") run_eval(eval);
    if (command == "tokenize") run_tokenize(tokenize);
    if (command == "inspect") run_inspect(inspect);
    if (command == "demo") run_demo(demo);
    return 0;
  } catch (const CLI::Success& e) {  // help, the version
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::cerr << message(command, std::string(e.what()) + "; cotan-gpt --help lists what there is.");
    return 2;
  } catch (const UsageError& e) {
    std::cerr << message(command, e.what());
    return 2;
  } catch (const std::exception& e) {
    std::cerr << message(command, e.what());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
